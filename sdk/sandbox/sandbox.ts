import { createAdmission } from "../admission.ts";
import { SvcError } from "../errors.ts";
import { withLimit } from "../limit.ts";
import type { Logger } from "../types/common.ts";
import { type Cell, type IsolationMode, openCell } from "./cell.ts";
import "./errors.ts";
import { type GuestError, type GuestMessage, type HostMessage, parseGuestMessage } from "./messages.ts";

/** Bounds of a guest (`plugins.md` 7, `hooks.md` 10). */
export interface SandboxLimits {
  /** Longest call, start included when the guest is cold. */
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

/** After so many crashes within a minute the guest rests for a minute. */
const MAX_CRASHES = 5;
const CRASH_WINDOW_MS = 60_000;
/** Output of user code that reaches the log, per call. */
const MAX_OUTPUT_CHARS = 8 * 1024;

/** What runs apart, and within which bounds. */
export interface SandboxOptions {
  /** Subject of every error: `plugin "weather"`. */
  name: string;
  mode: IsolationMode;
  guest: URL;
  /** Handed to the guest when it starts; plain JSON. */
  data: unknown;
  read?: readonly string[];
  limits?: Partial<SandboxLimits>;
  /** Before each start of a guest; a rejection keeps it from starting and is what the caller gets. */
  check?: () => Promise<void>;
  logger: Logger;
  now?: () => number;
}

/** Code that runs apart: one warm guest, replaced when it dies. */
export interface Sandbox {
  /** Starts the guest if it is cold; what its start answered. @throws {SvcError} `sandbox-*` */
  start(): Promise<unknown>;
  /**
   * Calls a handler of the guest, in a fresh one if the last has died.
   * @throws {SvcError} `sandbox-failed` with the guest's words, `sandbox-timeout`, `sandbox-crashed`, `busy`, `sandbox-unavailable`, `sandbox-too-large`
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
  const now = options.now ?? (() => performance.now());
  const admit = createAdmission({ maxActive: limits.inFlight, maxWaiting: limits.waiting });
  let guest: Guest | undefined;
  let checking: Promise<void> | undefined;
  let crashes: number[] = [];
  let disposed = false;
  let calls = 0;
  let printed = 0;

  const drop = (old: Guest, why: string) => {
    if (guest === old) guest = undefined;
    old.cell.kill();
    for (const pending of old.pending.values()) pending.reject(new SvcError("sandbox-crashed", { name, mode, reason: why }));
    old.pending.clear();
  };
  const onOutput = (text: string) => {
    if (printed >= MAX_OUTPUT_CHARS) return;
    printed += text.length;
    logger.info(text.slice(0, MAX_OUTPUT_CHARS).trimEnd());
  };
  const post = (to: Guest, message: HostMessage, what: string) => {
    const text = JSON.stringify(message);
    if (text.length > limits.maxBytes + 1_000) throw new SvcError("sandbox-too-large", { name, what, maxBytes: limits.maxBytes });
    to.cell.post(text);
  };
  const open = (): Guest => {
    if (disposed) throw new SvcError("sandbox-crashed", { name, mode, reason: "it was stopped" });
    crashes = crashes.filter((at) => now() - at < CRASH_WINDOW_MS);
    if (crashes.length >= MAX_CRASHES) throw new SvcError("sandbox-unavailable", { name, crashes: crashes.length });
    const pending = new Map<number, Pending>();
    const receive = (text: unknown) => {
      if (typeof text === "string" && text.length > limits.maxBytes + 1_000) return drop(made, "its message is too large");
      settle(pending, parseGuestMessage(text), { name, logger });
    };
    const cell = openCell({
      mode,
      guest: options.guest,
      read: options.read ?? [],
      memoryMb: limits.memoryMb,
      onMessage: receive,
      onOutput,
    });
    const started = new Promise<unknown>((resolve, reject) => pending.set(START, { what: "its start", resolve, reject }));
    const made: Guest = { cell, started, pending };
    started.catch(() => undefined);
    void cell.exited.then((why) => {
      if (guest === made) crashes.push(now());
      drop(made, why);
    });
    try {
      post(made, { type: "start", data: options.data }, "its start data");
    } catch (error) {
      drop(made, "it was not started");
      throw error;
    }
    return made;
  };
  /** The warm guest, once it has started; one that cannot start is ended. */
  const warm = async (): Promise<Guest> => {
    if (!guest && options.check) {
      checking ??= options.check().finally(() => {
        checking = undefined;
      });
      await checking;
    }
    guest ??= open();
    const current = guest;
    try {
      await withLimit(current.started, limits.startMs, () => {
        throw new SvcError("sandbox-timeout", { name, what: "its start", limitMs: limits.startMs });
      });
    } catch (error) {
      drop(current, "it did not start");
      throw error;
    }
    return current;
  };
  const callNow = async (what: string, args: unknown, { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number }) => {
    const current = await warm();
    signal?.throwIfAborted();
    printed = 0;
    const id = ++calls;
    const limitMs = timeoutMs ?? limits.callMs;
    const answer = new Promise<unknown>((resolve, reject) => current.pending.set(id, { what, resolve, reject }));
    const onAbort = () => post(current, { type: "abort", id }, what);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      post(current, { type: "call", id, name: what, args }, `the input of ${what}`);
      return await withLimit(answer, limitMs, () => {
        // It may be in an endless loop: nothing but its end stops that. Others in the same guest fail with it.
        current.pending.delete(id);
        drop(current, `${what} did not finish`);
        throw new SvcError("sandbox-timeout", { name, what, limitMs });
      });
    } finally {
      current.pending.delete(id);
      signal?.removeEventListener("abort", onAbort);
    }
  };

  return {
    start: async () => (await warm()).started,
    async call(what, args, own = {}) {
      const place = await admit();
      try {
        return await callNow(what, args, own);
      } finally {
        place.dispose();
      }
    },
    restart: () => guest && drop(guest, "it was restarted"),
    dispose() {
      disposed = true;
      if (guest) drop(guest, "it was stopped");
    },
  };
}

/** Place of the start among the pending calls. */
const START = 0;

function settle(pending: Map<number, Pending>, message: GuestMessage | undefined, to: { name: string; logger: Logger }): void {
  if (!message) return;
  if (message.type === "log") {
    const level = (["debug", "info", "warn", "error"] as const).find((l) => l === message.level) ?? "info";
    to.logger[level](String(message.message).slice(0, MAX_OUTPUT_CHARS));
    return;
  }
  const id = message.type === "started" || message.type === "start-failed" ? START : message.id;
  const call = pending.get(id);
  if (!call) return;
  pending.delete(id);
  if (message.type === "started" || message.type === "done") call.resolve(message.value);
  else call.reject(toError(to.name, call.what, message.error));
}

function toError(name: string, what: string, error: GuestError): SvcError {
  const place = error?.place ? ` (${error.place})` : "";
  const reason = `${what === "" ? "" : `${what}: `}${String(error?.message ?? "failed").slice(0, 500)}${place}`;
  return new SvcError("sandbox-failed", {
    name,
    reason,
    ...(error?.code ? { code: error.code } : {}),
    ...(error?.place ? { place: error.place } : {}),
  });
}
