import { randomBytes } from "node:crypto";
import { messageOf } from "../../sdk/errors.ts";
import type { Disposable } from "../../sdk/types/common.ts";
import type { ActiveSpan, EndedSpan, SpanOptions as PluginSpanOptions, SpanAttributes } from "../../sdk/types/tracing.ts";
import { runningSpan } from "../hooks/running.ts";
import { validTraceparent } from "./traceparent.ts";

/** Subject of a span, and the trace it belongs to. */
export interface SpanOptions extends Omit<PluginSpanOptions, "kept"> {
  /** Plugin whose work it is, or `kernel`. */
  owner: string;
  /** W3C `traceparent` of the work it belongs to; malformed or empty: a new trace. Default: the span that the calling code runs in. */
  parent?: string | undefined;
}

/** Spans of one gateway. Without a listener nothing is made, and nothing follows the code. */
export interface Tracer {
  isRecording(): boolean;
  current(): string | undefined;
  span<T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => Promise<T>): Promise<T>;
  record(listener: (span: EndedSpan) => void, options: { sampleRate: number }): Disposable;
}

interface Recorder {
  listener(span: EndedSpan): void;
  sampleRate: number;
}

const MAX_ATTRIBUTES = 32;
const MAX_VALUE_CHARS = 300;
const MAX_NAME_CHARS = 120;
const SAMPLED = "01";

const silent: ActiveSpan = { set: () => undefined, fail: () => undefined };

export function createTracer(now: () => number = () => performance.timeOrigin + performance.now()): Tracer {
  const recorders = new Set<Recorder>();
  const report = (span: EndedSpan) => {
    for (const { listener } of recorders) listener(span);
  };
  /** Share of new traces that is recorded: that of whoever wants most. */
  const sampleRate = () => Math.max(...[...recorders].map((one) => one.sampleRate));

  return {
    isRecording: () => recorders.size > 0,
    current: () => (recorders.size > 0 ? runningSpan.getStore() : undefined),
    span(name, options, work) {
      if (recorders.size === 0) return work(silent);
      const parent = parse(options.parent ?? runningSpan.getStore());
      const context = parent ? { traceId: parent.traceId, flags: parent.flags } : newTrace(sampleRate());
      const span = new Span(name, { ...options, ...context, parentId: parent?.spanId, startedAt: now() });
      return runningSpan.run(span.traceparent, () => span.cover(work, { now, report }));
    },
    record(listener, { sampleRate }) {
      const recorder: Recorder = { listener, sampleRate };
      recorders.add(recorder);
      return { dispose: () => void recorders.delete(recorder) };
    },
  };
}

interface SpanInit extends Omit<SpanOptions, "parent"> {
  traceId: string;
  flags: string;
  parentId: string | undefined;
  startedAt: number;
}

class Span implements ActiveSpan {
  readonly traceparent: string;
  readonly #spanId = randomBytes(8).toString("hex");
  readonly #name: string;
  readonly #init: SpanInit;
  readonly #attributes: Record<string, string | number | boolean> = {};
  #error: string | undefined;

  constructor(name: string, init: SpanInit) {
    this.#name = name.slice(0, MAX_NAME_CHARS);
    this.#init = init;
    this.traceparent = `00-${init.traceId}-${this.#spanId}-${init.flags}`;
    if (init.attributes) this.set(init.attributes);
  }

  set(attributes: SpanAttributes): void {
    for (const [key, value] of Object.entries(attributes)) {
      if (Object.keys(this.#attributes).length >= MAX_ATTRIBUTES) return;
      this.#attributes[key] = typeof value === "string" ? value.slice(0, MAX_VALUE_CHARS) : value;
    }
  }

  fail(message: string): void {
    this.#error ??= message.slice(0, MAX_VALUE_CHARS);
  }

  async cover<T>(work: (span: ActiveSpan) => Promise<T>, on: { now(): number; report(span: EndedSpan): void }): Promise<T> {
    try {
      return await work(this);
    } catch (error) {
      this.fail(messageOf(error));
      throw error;
    } finally {
      if (this.#init.flags === SAMPLED) on.report(this.#ended(on.now()));
    }
  }

  #ended(endedAt: number): EndedSpan {
    const { traceId, parentId, kind = "internal", owner, startedAt } = this.#init;
    return {
      traceId,
      spanId: this.#spanId,
      ...(parentId === undefined ? {} : { parentId }),
      name: this.#name,
      kind,
      startedAt,
      endedAt,
      attributes: this.#attributes,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      owner,
    };
  }
}

/** A new trace; the decision to record it follows from its id, as other programs that sample by a share make it. */
function newTrace(sampleRate: number): { traceId: string; flags: string } {
  const id = randomBytes(16);
  // All zeros are no id; the chance of that is that of a guessed key.
  const share = id.readUInt32BE(12) / 2 ** 32;
  return { traceId: id.toString("hex"), flags: share < sampleRate ? SAMPLED : "00" };
}

function parse(text: string | undefined): { traceId: string; spanId: string; flags: string } | undefined {
  const [, traceId = "", spanId = "", flags = ""] = validTraceparent(text)?.split("-") ?? [];
  if (traceId === "") return undefined;
  return { traceId, spanId, flags: (Number.parseInt(flags, 16) & 1) === 1 ? SAMPLED : "00" };
}
