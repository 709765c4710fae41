import { withLimit } from "../../sdk/time.ts";
import type { Logger } from "../../sdk/types/common.ts";
import { type CellOptions, openCell } from "./cell.ts";
import type { Course } from "./course.ts";
import { sandboxErrors } from "./errors.ts";
import { toSandboxError } from "./guest-error.ts";
import { createMemoryWatch } from "./memory-watch.ts";
import { type GuestMessage, type HostMessage, parseGuestMessage } from "./messages.ts";
import { createOutputBudget } from "./output-budget.ts";

/** Bounds of one guest. */
export interface GuestLimits {
  startMs: number;
  maxArgsBytes: number;
  /** JSON text of a result. */
  maxBytes: number;
}

/** Options of one guest. */
export interface HostGuestOptions {
  /** Subject of every error. */
  name: string;
  limits: GuestLimits;
  cell: Pick<CellOptions, "mode" | "guest" | "read" | "memoryMb" | "program">;
  /** Start data of the guest; plain JSON. */
  data: unknown;
  logger: Logger;
  now(): number;
  /** It has ended. @param blamed calls that it is put down to; undefined when somebody had asked for it */
  onEnd(blamed: readonly string[] | undefined): void;
}

/** One guest, seen from the gateway. */
export interface HostGuest {
  /** Answer of its start. @throws {SvcError} `sandbox-*` */
  readonly started: Promise<unknown>;
  /** One call, to be made only after the start. @throws {SvcError} `sandbox-*` */
  call(what: string, args: unknown, course: Course): Promise<unknown>;
  /** Ends it at once, whatever it is doing: its calls fail. */
  end(why: string): void;
  /** Ends it when nothing is under way any more. It gets no further calls. */
  retire(why: string): void;
}

interface Pending {
  what: string;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Place of the start among the pending calls. */
const START = 0;
/** Memory that a child process may take besides its heap: Node itself, the code, buffers. */
const OUTSIDE_HEAP_MB = 256;
/** Room of a message besides its arguments or its result. */
const ENVELOPE_BYTES = 1_000;

/**
 * Opens a guest and has it start.
 * @throws {SvcError} `sandbox-too-large` when its start data do not fit; there is no guest then
 */
export function openHostGuest(options: HostGuestOptions): HostGuest {
  const { name, limits, logger, now } = options;
  const { mode } = options.cell;
  const budget = createOutputBudget(now);
  const pending = new Map<number, Pending>();
  let calls = 0;
  let hasEnded = false;
  let retires: string | undefined;

  const finish = (why: string, blamed: readonly string[] | undefined) => {
    if (hasEnded) return;
    hasEnded = true;
    memory.end();
    cell.kill();
    for (const { reject } of pending.values()) reject(sandboxErrors.sandboxCrashed({ name, mode, reason: why }));
    pending.clear();
    options.onEnd(blamed);
  };
  const underWay = () => [...pending].filter(([id]) => id !== START).map(([, { what }]) => what);
  /** An end that nobody asked for. */
  const crash = (why: string, blamed = underWay()) => finish(why, blamed);
  const leave = (id: number) => {
    pending.delete(id);
    if (pending.size > 0) return;
    memory.rest();
    if (retires !== undefined) finish(retires, undefined);
  };
  /** Counts what it says besides its answers. */
  const bears = (chars: number) => {
    const bearable = budget.isBearable(chars);
    if (!bearable) crash("it floods the log");
    return bearable;
  };
  const receive = (given: unknown) => {
    if (hasEnded) return;
    const message = parseGuestMessage(given);
    if (!message) return crash("it sent what is no message");
    if (message.type !== "log") {
      const id = message.type === "started" || message.type === "start-failed" ? START : message.id;
      if (!settle(pending.get(id), message, name)) bears(0);
      return leave(id);
    }
    const said = String(message.message);
    if (!bears(said.length)) return;
    const level = (["debug", "info", "warn", "error"] as const).find((l) => l === message.level) ?? "info";
    const text = budget.take(said);
    if (text !== undefined) logger[level](text);
  };
  const print = (text: string) => {
    if (hasEnded || !bears(text.length)) return;
    const taken = budget.take(text)?.trimEnd();
    if (taken) logger.info(taken);
  };
  const post = (message: HostMessage, { what, maxBytes }: { what: string; maxBytes: number }) => {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > maxBytes + ENVELOPE_BYTES) throw sandboxErrors.sandboxTooLarge({ name, what, maxBytes });
    cell.post(text);
  };

  const cell = openCell({
    ...options.cell,
    maxMessageBytes: limits.maxBytes + ENVELOPE_BYTES,
    onMessage: receive,
    onTooLarge: () => crash("its message is too large"),
    onOutput: print,
  });
  const maxMb = options.cell.memoryMb + OUTSIDE_HEAP_MB;
  const memory = createMemoryWatch({
    maxBytes: maxMb * 1_024 * 1_024,
    read: () => cell.residentBytes(),
    onTooMuch: () => crash(`it takes more than ${maxMb} MB of memory`),
  });
  const answer = new Promise<unknown>((resolve, reject) => pending.set(START, { what: "its start", resolve, reject }));
  const started = withLimit(answer, limits.startMs, () => {
    throw sandboxErrors.sandboxTimeout({ name, what: "its start", limitMs: limits.startMs });
  });
  memory.wake();
  void cell.exited.then((why) => crash(why));
  started.catch(() => crash("it did not start"));
  try {
    post({ type: "start", data: options.data }, { what: "its start data", maxBytes: limits.maxBytes });
  } catch (error) {
    finish("it was given nothing to start with", undefined);
    throw error;
  }

  return {
    started,
    async call(what, args, course) {
      if (hasEnded) throw sandboxErrors.sandboxCrashed({ name, mode, reason: "it has ended" });
      budget.renew();
      memory.wake();
      const id = ++calls;
      const answered = new Promise<unknown>((resolve, reject) => pending.set(id, { what, resolve, reject }));
      const onAbort = () => post({ type: "abort", id }, { what, maxBytes: limits.maxBytes });
      course.signal?.addEventListener("abort", onAbort, { once: true });
      try {
        post({ type: "call", id, name: what, args }, { what: `the input of ${what}`, maxBytes: limits.maxArgsBytes });
        return await withLimit(answered, course.leftMs(), () => {
          // It may be in an endless loop: nothing but its end stops that. Others in the same guest fail with it.
          pending.delete(id);
          crash(`${what} did not finish`, [what]);
          throw course.tooLate();
        });
      } finally {
        leave(id);
        course.signal?.removeEventListener("abort", onAbort);
      }
    },
    end: (why) => finish(why, undefined),
    retire(why) {
      retires = why;
      if (pending.size === 0) finish(why, undefined);
    },
  };
}

/** @returns whether somebody was waiting for it */
function settle(call: Pending | undefined, message: Exclude<GuestMessage, { type: "log" }>, name: string): boolean {
  if (!call) return false;
  if (message.type === "started" || message.type === "done") call.resolve(message.value);
  else call.reject(toSandboxError(name, call.what, message.error));
  return true;
}
