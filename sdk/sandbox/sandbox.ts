import { createAdmission } from "../admission.ts";
import { SvcError } from "../errors.ts";
import { withLimit } from "../limit.ts";
import type { Logger } from "../types/common.ts";
import { type Cell, type IsolationMode, openCell } from "./cell.ts";
import { type Course, startCourse } from "./course.ts";
import "./errors.ts";
import { type GuestError, type GuestMessage, type HostMessage, INVALID_INPUT, parseGuestMessage } from "./messages.ts";
import { createOutputBudget } from "./output-budget.ts";

/** Bounds of a guest (`plugins.md` 7, `hooks.md` 10). */
export interface SandboxLimits {
  /** Longest call, with its wait for a place and, when the guest is cold, its start. */
  callMs: number;
  startMs: number;
  /** JSON text of arguments and of results, each. */
  maxBytes: number;
  inFlight: number;
  waiting: number;
  memoryMb: number;
}

/** Bounds of a guest that is given no others. */
export const sandboxLimits: SandboxLimits = {
  callMs: 5_000,
  startMs: 30_000,
  maxBytes: 1024 * 1024,
  inFlight: 8,
  waiting: 64,
  memoryMb: 64,
};

/** After so many ends within a minute that nobody asked for the guest rests for a minute. */
const MAX_CRASHES = 5;
const CRASH_WINDOW_MS = 60_000;
/** Room of a message besides its arguments or its result. */
const ENVELOPE_BYTES = 1_000;

/** What runs apart, and within which bounds. */
export interface SandboxOptions {
  /** Subject of every error: `plugin "weather"`. */
  name: string;
  mode: IsolationMode;
  guest: URL;
  /** What each guest is handed when it starts; plain JSON. */
  data(): unknown;
  read?: readonly string[];
  limits?: Partial<SandboxLimits>;
  /** Before each start of a guest; a rejection keeps it from starting and is what the caller gets. */
  check?: () => Promise<void>;
  /** Mode `process`: the Node that runs it; default this one. */
  program?: string;
  logger: Logger;
  now?: () => number;
}

/** Code that runs apart: one warm guest, replaced when it dies. */
export interface Sandbox {
  /** There is a guest, started or starting. */
  readonly isAlive: boolean;
  /** Starts the guest if it is cold; what its start answered. @throws {SvcError} `sandbox-*` */
  start(): Promise<unknown>;
  /**
   * Calls a handler of the guest, in a fresh one if the last has died. One limit covers the wait for a place, the start and the call.
   * @param options.signal ends a wait at once; a call under way is told and may still answer
   * @throws {SvcError} `sandbox-failed` with the guest's words, `sandbox-invalid-input`, `sandbox-timeout`, `sandbox-crashed`, `busy`, `sandbox-unavailable`, `sandbox-too-large`
   */
  call(name: string, args: unknown, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<unknown>;
  /** Ends the guest; the next call starts a new one. Calls in flight fail. */
  restart(): void;
  dispose(): void;
}

interface Pending {
  what: string;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Guest {
  cell: Cell;
  started: Promise<unknown>;
  pending: Map<number, Pending>;
}

/** Prepares a guest; it is opened by `start` or by the first call, and ended by `dispose`. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { name, mode, logger } = options;
  const limits = { ...sandboxLimits, ...options.limits };
  const maxMessageBytes = limits.maxBytes + ENVELOPE_BYTES;
  const now = options.now ?? (() => performance.now());
  const admit = createAdmission({ maxActive: limits.inFlight, maxWaiting: limits.waiting });
  const budget = createOutputBudget(now);
  let guest: Guest | undefined;
  let checking: Promise<void> | undefined;
  let crashes: number[] = [];
  let disposed = false;
  let calls = 0;

  /** Ends a guest, once; whoever waits for it hears why. */
  const end = (old: Guest, why: string) => {
    if (guest !== old) return;
    guest = undefined;
    old.cell.kill();
    for (const pending of old.pending.values()) pending.reject(new SvcError("sandbox-crashed", { name, mode, reason: why }));
    old.pending.clear();
  };
  /** An end that nobody asked for. */
  const crash = (old: Guest, why: string) => {
    if (guest === old) crashes.push(now());
    end(old, why);
  };
  /** Counts what a guest says besides its answers. */
  const bears = (from: Guest, chars: number) => {
    const bearable = budget.isBearable(chars);
    if (!bearable) crash(from, "it floods the log");
    return bearable;
  };
  const receive = (from: Guest, given: unknown) => {
    if (guest !== from) return;
    const message = parseGuestMessage(given);
    if (!message) return crash(from, "it sent what is no message");
    if (message.type !== "log") return settle(from.pending, message, name) || bears(from, 0);
    const said = String(message.message);
    if (!bears(from, said.length)) return;
    const level = (["debug", "info", "warn", "error"] as const).find((l) => l === message.level) ?? "info";
    const text = budget.take(said);
    if (text !== undefined) logger[level](text);
  };
  const print = (from: Guest, text: string) => {
    if (!bears(from, text.length)) return;
    const taken = budget.take(text)?.trimEnd();
    if (taken) logger.info(taken);
  };
  const post = (to: Guest, message: HostMessage, what: string) => {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > maxMessageBytes) throw new SvcError("sandbox-too-large", { name, what, maxBytes: limits.maxBytes });
    to.cell.post(text);
  };
  const open = (): Guest => {
    if (disposed) throw new SvcError("sandbox-crashed", { name, mode, reason: "it was stopped" });
    crashes = crashes.filter((at) => now() - at < CRASH_WINDOW_MS);
    if (crashes.length >= MAX_CRASHES) throw new SvcError("sandbox-unavailable", { name, crashes: crashes.length });
    const pending = new Map<number, Pending>();
    const cell = openCell({
      mode,
      guest: options.guest,
      read: options.read ?? [],
      memoryMb: limits.memoryMb,
      maxMessageBytes,
      ...(options.program === undefined ? {} : { program: options.program }),
      onMessage: (given) => receive(made, given),
      onTooLarge: () => crash(made, "its message is too large"),
      onOutput: (text) => print(made, text),
    });
    const answer = new Promise<unknown>((resolve, reject) => pending.set(START, { what: "its start", resolve, reject }));
    const started = withLimit(answer, limits.startMs, () => {
      throw new SvcError("sandbox-timeout", { name, what: "its start", limitMs: limits.startMs });
    });
    const made: Guest = { cell, started, pending };
    guest = made;
    void cell.exited.then((why) => crash(made, why));
    started.catch(() => crash(made, "it did not start"));
    try {
      post(made, { type: "start", data: options.data() }, "its start data");
    } catch (error) {
      end(made, "it was given nothing to start with");
      throw error;
    }
    return made;
  };
  /** The guest that is there, or a new one, once its files were found to be the right ones. */
  const warm = async (): Promise<Guest> => {
    if (!guest && options.check) {
      checking ??= options.check().finally(() => {
        checking = undefined;
      });
      await checking;
    }
    return guest ?? open();
  };
  const callNow = async (what: string, args: unknown, course: Course) => {
    course.over.throwIfAborted();
    const current = await course.until(warm());
    await course.until(current.started);
    budget.renew();
    const id = ++calls;
    const answer = new Promise<unknown>((resolve, reject) => current.pending.set(id, { what, resolve, reject }));
    const onAbort = () => post(current, { type: "abort", id }, what);
    course.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      post(current, { type: "call", id, name: what, args }, `the input of ${what}`);
      return await withLimit(answer, course.leftMs(), () => {
        // It may be in an endless loop: nothing but its end stops that. Others in the same guest fail with it.
        current.pending.delete(id);
        crash(current, `${what} did not finish`);
        throw course.tooLate();
      });
    } finally {
      current.pending.delete(id);
      course.signal?.removeEventListener("abort", onAbort);
    }
  };

  return {
    get isAlive() {
      return guest !== undefined;
    },
    start: async () => (await warm()).started,
    async call(what, args, { signal, timeoutMs: limitMs = limits.callMs } = {}) {
      const course = startCourse({ signal, limitMs, tooLate: () => new SvcError("sandbox-timeout", { name, what, limitMs }) });
      try {
        const place = await admit(course.over);
        try {
          return await callNow(what, args, course);
        } finally {
          place.dispose();
        }
      } finally {
        course.dispose();
      }
    },
    restart: () => guest && end(guest, "it was restarted"),
    dispose() {
      disposed = true;
      if (guest) end(guest, "it was stopped");
    },
  };
}

/** Place of the start among the pending calls. */
const START = 0;

/** @returns whether somebody was waiting for it */
function settle(pending: Map<number, Pending>, message: Exclude<GuestMessage, { type: "log" }>, name: string): boolean {
  const id = message.type === "started" || message.type === "start-failed" ? START : message.id;
  const call = pending.get(id);
  if (!call) return false;
  pending.delete(id);
  if (message.type === "started" || message.type === "done") call.resolve(message.value);
  else call.reject(toError(name, call.what, message.error));
  return true;
}

function toError(name: string, what: string, error: GuestError): SvcError {
  const place = error?.place ? ` (${error.place})` : "";
  const reason = `${what === "" ? "" : `${what}: `}${String(error?.message ?? "failed").slice(0, 500)}${place}`;
  if (error?.code === INVALID_INPUT) return new SvcError("sandbox-invalid-input", { name, reason });
  return new SvcError("sandbox-failed", {
    name,
    reason,
    ...(error?.code ? { code: error.code } : {}),
    ...(error?.place ? { place: error.place } : {}),
  });
}
