import { withLimit } from "../../sdk/time.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { CallDeadline } from "./call-deadline.ts";
import { type CellOptions, openCell } from "./cell.ts";
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
  /** Called when it has ended. @param blamed calls that caused the end; undefined when the end was requested */
  onEnd(blamed: readonly string[] | undefined): void;
}

export interface GuestCallOptions {
  deadline: CallDeadline;
  /** Gets lines of progress. */
  onUpdate: ((text: string) => void) | undefined;
}

/** One guest, seen from the gateway. */
export interface HostGuest {
  /** Answer of its start. @throws {SvcError} `sandbox-*` */
  readonly started: Promise<unknown>;
  /** One call, to be made only after the start. @throws {SvcError} `sandbox-*` */
  call(what: string, args: unknown, caller: GuestCallOptions): Promise<unknown>;
  /** Ends it at once, whatever it is doing: its calls fail. */
  end(why: string): void;
  /** Ends it when nothing is under way any more. It gets no further calls. */
  retire(why: string): void;
}

interface Pending {
  what: string;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  onUpdate?: ((text: string) => void) | undefined;
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
  return new CellGuest(options);
}

class CellGuest implements HostGuest {
  readonly started: Promise<unknown>;
  readonly #options: HostGuestOptions;
  readonly #budget: ReturnType<typeof createOutputBudget>;
  readonly #cell: ReturnType<typeof openCell>;
  readonly #memory: ReturnType<typeof createMemoryWatch>;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #hasEnded = false;
  #retires: string | undefined;

  constructor(options: HostGuestOptions) {
    this.#options = options;
    const { name, limits, now } = options;
    this.#budget = createOutputBudget(now);
    this.#cell = openCell({
      ...options.cell,
      maxMessageBytes: limits.maxBytes + ENVELOPE_BYTES,
      onMessage: (message) => this.#receive(message),
      onTooLarge: () => this.#crash("its message is too large"),
      onOutput: (text) => this.#print(text),
    });
    const maxMb = options.cell.memoryMb + OUTSIDE_HEAP_MB;
    this.#memory = createMemoryWatch({
      maxBytes: maxMb * 1_024 * 1_024,
      read: () => this.#cell.residentBytes(),
      onTooMuch: () => this.#crash(`it takes more than ${maxMb} MB of memory`),
    });
    const answer = new Promise<unknown>((resolve, reject) => this.#pending.set(START, { what: "its start", resolve, reject }));
    this.started = withLimit(answer, limits.startMs, () => {
      throw sandboxErrors.sandboxTimeout({ name, what: "its start", limitMs: limits.startMs });
    });
    this.#memory.wake();
    void this.#cell.exited.then((why) => this.#crash(why));
    this.started.catch(() => this.#crash("it did not start"));
    try {
      this.#post({ type: "start", data: options.data }, { what: "its start data", maxBytes: limits.maxBytes });
    } catch (error) {
      this.end("it was given nothing to start with");
      throw error;
    }
  }

  async call(what: string, args: unknown, { deadline, onUpdate }: GuestCallOptions): Promise<unknown> {
    const { name, limits, cell } = this.#options;
    if (this.#hasEnded) throw sandboxErrors.sandboxCrashed({ name, mode: cell.mode, reason: "it has ended" });
    this.#budget.renew();
    this.#memory.wake();
    this.#calls += 1;
    const id = this.#calls;
    const answered = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { what, resolve, reject, onUpdate }));
    const onAbort = () => this.#post({ type: "abort", id }, { what, maxBytes: limits.maxBytes });
    deadline.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      this.#post({ type: "call", id, name: what, args }, { what: `the input of ${what}`, maxBytes: limits.maxArgsBytes });
      return await withLimit(answered, deadline.leftMs(), () => {
        // It may be in an endless loop: nothing but its end stops that. Others in the same guest fail with it.
        this.#pending.delete(id);
        this.#crash(`${what} did not finish`, [what]);
        throw deadline.tooLate();
      });
    } finally {
      this.#leave(id);
      deadline.signal?.removeEventListener("abort", onAbort);
    }
  }

  end(why: string): void {
    this.#finish(why, undefined);
  }

  retire(why: string): void {
    this.#retires = why;
    if (this.#pending.size === 0) this.end(why);
  }

  /** Ends it without having been asked to. */
  #crash(why: string, blamed = this.#inProgress()): void {
    this.#finish(why, blamed);
  }

  #finish(why: string, blamed: readonly string[] | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#memory.end();
    this.#cell.kill();
    const { name, cell, onEnd } = this.#options;
    for (const { reject } of this.#pending.values()) reject(sandboxErrors.sandboxCrashed({ name, mode: cell.mode, reason: why }));
    this.#pending.clear();
    onEnd(blamed);
  }

  #inProgress(): string[] {
    return [...this.#pending].filter(([id]) => id !== START).map(([, { what }]) => what);
  }

  #leave(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size > 0) return;
    this.#memory.rest();
    if (this.#retires !== undefined) this.end(this.#retires);
  }

  #receive(given: unknown): void {
    if (this.#hasEnded) return;
    const message = parseGuestMessage(given);
    if (!message) return this.#crash("it sent what is no message");
    if (message.type === "update") return this.#update(message.id, String(message.text));
    if (message.type !== "log") {
      const id = message.type === "started" || message.type === "start-failed" ? START : message.id;
      if (!settle(this.#pending.get(id), message, this.#options.name)) this.#isBearable(0);
      return this.#leave(id);
    }
    const line = String(message.message);
    if (!this.#isBearable(line.length)) return;
    const level = (["debug", "info", "warn", "error"] as const).find((l) => l === message.level) ?? "info";
    const text = this.#budget.take(line);
    if (text !== undefined) this.#options.logger[level](text);
  }

  #update(id: number, text: string): void {
    if (this.#isBearable(text.length)) this.#pending.get(id)?.onUpdate?.(text);
  }

  #print(text: string): void {
    if (this.#hasEnded || !this.#isBearable(text.length)) return;
    const taken = this.#budget.take(text)?.trimEnd();
    if (taken) this.#options.logger.info(taken);
  }

  /** Counts what it says besides its answers. */
  #isBearable(chars: number): boolean {
    const isBearable = this.#budget.isBearable(chars);
    if (!isBearable) this.#crash("it floods the log");
    return isBearable;
  }

  #post(message: HostMessage, { what, maxBytes }: { what: string; maxBytes: number }): void {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > maxBytes + ENVELOPE_BYTES)
      throw sandboxErrors.sandboxTooLarge({ name: this.#options.name, what, maxBytes });
    this.#cell.post(text);
  }
}

/** @returns whether somebody was waiting for it */
function settle(call: Pending | undefined, message: Exclude<GuestMessage, { type: "log" | "update" }>, name: string): boolean {
  if (!call) return false;
  if (message.type === "started" || message.type === "done") call.resolve(message.value);
  else call.reject(toSandboxError(name, call.what, message.error));
  return true;
}
