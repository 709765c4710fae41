import { type AssistantPart, isModelError, type ModelDelta, ModelError, messageOf, type Usage, type VendorMeta } from "svc/sdk";
import { arrivalsOf, itemsOf, parseJson } from "svc/sdk/internal";
import { noticeSilence } from "./silence-notice.ts";

export interface ToolCallMade {
  id: string;
  name: string;
  args: unknown;
  /** Why the arguments are no JSON object; `args` is the model's own text then. */
  broken?: string;
  /** The vendor's own data about the call. */
  meta?: VendorMeta;
}

export interface TurnResult {
  /** The answer in the order in which the model wrote it; arguments of broken calls are empty. */
  parts: AssistantPart[];
  text: string;
  reasoning: string;
  toolCalls: ToolCallMade[];
  usage: Usage;
  finish: "stop" | "length" | "tool_calls" | "content_filter" | "other";
}

/** Longest text and arguments of one turn, in UTF-16 units. Each is stored, shown and sent back to the model as a whole. */
const MAX_TURN_CHARS = 1024 * 1024;
/** Most tool calls of one turn: each of them is carried out. */
const MAX_TURN_CALLS = 128;

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

export interface TurnOptions {
  signal: AbortSignal;
  /** Longest wait for the first event of the model; default `idleMs`. */
  firstMs?: number;
  /** Longest silence between two events of the model. */
  idleMs: number;
  /** Called every 15 s while the model is silent. */
  onSilence?(silentMs: number): void;
  onText(delta: string): void;
  onReasoning?(delta: string): void;
  /** A piece of a call's arguments; the first one may be empty. */
  onToolInput?(call: { id: string; name: string }, delta: string): void;
}

/**
 * Reads one model turn to its end, which comes early when it is too long. After the signal, or after an idle time-out, no delta is passed on, even if
 * the provider goes on.
 * @throws {ModelError} or the signal's reason
 */
export function readTurn(open: (signal: AbortSignal) => AsyncIterable<ModelDelta>, options: TurnOptions): Promise<TurnResult> {
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    const turn = createTurn(options);
    const notice = noticeSilence(options.onSilence);
    let open_ = true;

    const end = (settle: () => void) => {
      if (!open_) return;
      open_ = false;
      clearTimeout(idle);
      notice.stop();
      options.signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => {
      end(() => reject(options.signal.reason));
      stop.abort(options.signal.reason);
    };
    const wait = (ms: number) =>
      setTimeout(() => {
        const error = new ModelError("timeout", `the model sent nothing for ${ms / 1000} s`);
        end(() => reject(error));
        stop.abort(error);
      }, ms);
    let idle = wait(options.firstMs ?? options.idleMs);
    let hasBegun = false;

    const pump = async () => {
      for await (const arrived of arrivalsOf(open(stop.signal))) {
        if (!open_) return;
        notice.heard();
        if (hasBegun) idle.refresh();
        else {
          clearTimeout(idle);
          idle = wait(options.idleMs);
        }
        hasBegun = true;
        for (const delta of itemsOf(arrived)) {
          turn.take(delta);
          // A listener may end the turn.
          if (!open_) return;
        }
      }
    };

    if (options.signal.aborted) return onAbort();
    options.signal.addEventListener("abort", onAbort, { once: true });
    pump().then(
      () => end(() => resolve(turn.result())),
      (error) => end(() => reject(toFault(error))),
    );
  });
}

type Reasoning = Extract<AssistantPart, { type: "reasoning" }>;
/** Part of an answer while it is being written; a call is filled in at the end. */
type Written =
  | { type: "text"; text: string; meta?: VendorMeta }
  | (Reasoning & { blockId: string | undefined })
  | { type: "call"; id: string };

/** Collects the deltas of one turn. */
function createTurn({ onText, onReasoning, onToolInput }: TurnOptions): { take(delta: ModelDelta): void; result(): TurnResult } {
  const written: Written[] = [];
  const calls = new Map<string, { name: string; json: string; meta?: VendorMeta }>();
  let usage = noUsage;
  let finish: TurnResult["finish"] = "other";
  let chars = 0;
  const keep = (length: number) => {
    chars += length;
    if (chars > MAX_TURN_CHARS) throw new ModelError("network", `the model's answer is longer than ${MAX_TURN_CHARS} characters`);
  };
  const think = ({ delta, id, redacted, meta }: Extract<ModelDelta, { type: "reasoning" }>) => {
    keep(delta.length + (meta ? JSON.stringify(meta).length : 0));
    const last = written.at(-1);
    const block = last?.type === "reasoning" && last.blockId === id ? last : ({ type: "reasoning", text: "", blockId: id } as const);
    if (block !== last) written.push({ ...block });
    const open = written.at(-1) as Reasoning;
    open.text += delta;
    if (redacted) open.redacted = true;
    if (meta) open.meta = joined(open.meta, meta);
    if (delta !== "") onReasoning?.(delta);
  };
  return {
    take(delta) {
      switch (delta.type) {
        case "text": {
          if (delta.delta === "" && (!delta.meta || written.at(-1)?.type !== "text")) return;
          keep(delta.delta.length + (delta.meta ? JSON.stringify(delta.meta).length : 0));
          addText(written, delta);
          if (delta.delta !== "") onText(delta.delta);
          return;
        }
        case "reasoning":
          if (delta.delta !== "" || delta.meta) think(delta);
          return;
        case "toolCall": {
          const call = calls.get(delta.id);
          keep(delta.argsDelta.length + (call ? 0 : delta.id.length + delta.name.length));
          if (call) call.json += delta.argsDelta;
          else {
            calls.set(delta.id, { name: delta.name, json: delta.argsDelta });
            written.push({ type: "call", id: delta.id });
          }
          if (calls.size > MAX_TURN_CALLS) throw new ModelError("network", `the model called more than ${MAX_TURN_CALLS} tools at once`);
          onToolInput?.({ id: delta.id, name: call?.name ?? delta.name }, delta.argsDelta);
          return;
        }
        case "toolCallEnd": {
          const call = calls.get(delta.id);
          if (!call || !delta.meta) return;
          keep(JSON.stringify(delta.meta).length);
          call.meta = delta.meta;
          return;
        }
        case "usage":
          usage = delta.usage;
          return;
        case "finish":
          finish = delta.reason;
          return;
      }
    },
    result() {
      const toolCalls = [...calls].map(([id, { name, json, meta }]) => ({
        id,
        name,
        ...parseArgs(json, finish),
        ...(meta ? { meta } : {}),
      }));
      const of = (type: "text" | "reasoning") => written.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
      const parts = written.flatMap((part) => toPart(part, toolCalls));
      return { parts, text: of("text"), reasoning: of("reasoning"), usage, finish, toolCalls };
    },
  };
}

function addText(written: Written[], { delta, meta }: Extract<ModelDelta, { type: "text" }>): void {
  const last = written.at(-1);
  if (last?.type !== "text") {
    written.push({ type: "text", text: delta, ...(meta ? { meta } : {}) });
    return;
  }
  last.text += delta;
  if (meta) last.meta = meta;
}

function toPart(part: Written, calls: readonly ToolCallMade[]): AssistantPart[] {
  if (part.type === "text") return [part];
  if (part.type === "reasoning") {
    const { blockId: _, ...block } = part;
    return [block];
  }
  const call = calls.find(({ id }) => id === part.id);
  if (!call) return [];
  const { id, name, broken, args, meta } = call;
  return [{ type: "toolCall", id, name, args: broken === undefined ? args : {}, ...(meta ? { meta } : {}) }];
}

/** Data that a vendor sends in pieces: what it says of one name later is added to what it said before. */
function joined(earlier: VendorMeta | undefined, later: VendorMeta): VendorMeta {
  const out: Record<string, unknown> = { ...earlier };
  for (const [name, value] of Object.entries(later))
    out[name] = isObject(out[name]) && isObject(value) ? { ...(out[name] as object), ...(value as object) } : value;
  return out;
}

function parseArgs(json: string, finish: TurnResult["finish"]): { args: unknown; broken?: string } {
  const advice = finish === "length" ? "the answer was cut off at its longest length; send smaller parts" : "send them again";
  // A call that never got to its arguments looks like one that needs none.
  if (json.trim() === "") return finish === "length" ? { args: json, broken: advice } : { args: {} };
  try {
    const args = parseJson(json);
    return isObject(args) ? { args } : { args: json, broken: `expected an object; ${advice}` };
  } catch (error) {
    return { args: json, broken: `${placed(messageOf(error), json)}; ${advice}` };
  }
}

/** Problem of a text with its place: the parser names none where the text just stops. */
function placed(problem: string, json: string): string {
  return /position \d/.test(problem) ? problem : `${problem} at position ${json.length}`;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A provider that ends without our signal lost its connection, as far as the run can tell. */
function toFault(error: unknown): unknown {
  if (isModelError(error)) return error;
  if (error instanceof Error && error.name === "AbortError")
    return new ModelError("network", `the model's stream was cut: ${messageOf(error)}`, { cause: error });
  return error;
}

export function addUsage(a: Usage, b: Usage): Usage {
  const reasoning = (a.reasoning ?? 0) + (b.reasoning ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    total: a.total + b.total,
    ...(reasoning > 0 ? { reasoning } : {}),
    ...(a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) }),
  };
}
