import type { Logger } from "../../sdk/types/common.ts";
import { createAdmission } from "../process/admission.ts";
import type { IsolationMode } from "./cell.ts";
import { type Course, startCourse } from "./course.ts";
import { sandboxErrors } from "./errors.ts";
import { type HostGuest, openHostGuest } from "./host-guest.ts";
import { createRests, type RestScope } from "./rests.ts";

/** Bounds of a guest. */
export interface SandboxLimits {
  /** Longest call, with its wait for a place and, when the guest is cold, its start. */
  callMs: number;
  startMs: number;
  /** JSON text of results and of the start's data, each. */
  maxBytes: number;
  /** JSON text of arguments. */
  maxArgsBytes: number;
  inFlight: number;
  waiting: number;
  memoryMb: number;
}

/** Bounds of a guest that is given no others. */
export const sandboxLimits: SandboxLimits = {
  callMs: 5_000,
  startMs: 30_000,
  maxBytes: 1024 * 1024,
  maxArgsBytes: 1024 * 1024,
  inFlight: 8,
  waiting: 64,
  memoryMb: 64,
};

/** Code that runs isolated, and its limits. */
export interface SandboxOptions {
  /** Subject of every error: `plugin "weather"`. */
  name: string;
  mode: IsolationMode;
  guest: URL;
  /** Start data of each guest; plain JSON. */
  data(): unknown;
  /** Mode `process`: paths a guest may read; a function is asked at each start of one. */
  read?: readonly string[] | (() => readonly string[]);
  limits?: Partial<SandboxLimits>;
  /** Scope of the pause after too many ends: the guest as a whole (default), or the calls of the name that was being called. */
  rest?: RestScope;
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
   * @throws {SvcError} `sandbox-failed` with the guest's words, `sandbox-invalid-input`, `sandbox-timeout` (`fields.isWaiting` when the call had not begun), `sandbox-crashed`, `busy`, `sandbox-unavailable`, `sandbox-too-large`
   */
  call(name: string, args: unknown, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<unknown>;
  /** Ends the guest; the next call starts a new one. Calls in flight fail. */
  restart(): void;
  /** The next call starts a new guest. Calls in flight finish in the old one, unless this is asked for again meanwhile. */
  renew(): void;
  dispose(): void;
}

function readablePaths({ read = [] }: SandboxOptions): readonly string[] {
  return typeof read === "function" ? read() : read;
}

/** Prepares a guest; it is opened by `start` or by the first call, and ended by `dispose`. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { name, mode, logger, now = () => performance.now() } = options;
  const limits = { ...sandboxLimits, ...options.limits };
  const admit = createAdmission({ maxActive: limits.inFlight, maxWaiting: limits.waiting });
  const rests = createRests({ scope: options.rest ?? "guest", now });
  let guest: HostGuest | undefined;
  /** Finishes what it has begun. */
  let leaving: HostGuest | undefined;
  let checking: Promise<void> | undefined;
  let disposed = false;

  const open = (): HostGuest => {
    if (disposed) throw sandboxErrors.sandboxCrashed({ name, mode, reason: "it was stopped" });
    let made: HostGuest | undefined;
    made = openHostGuest({
      ...{ name, limits, logger, now },
      cell: {
        ...{ mode, guest: options.guest, read: readablePaths(options), memoryMb: limits.memoryMb },
        ...(options.program === undefined ? {} : { program: options.program }),
      },
      data: options.data(),
      onEnd(blamed) {
        if (guest === made) guest = undefined;
        if (leaving === made) leaving = undefined;
        if (blamed) rests.count(blamed);
      },
    });
    guest = made;
    return made;
  };
  /** The guest that is there, or a new one, once its files were found to be the right ones. */
  const warm = async (what: string): Promise<HostGuest> => {
    const rest = rests.of(what);
    if (rest) throw sandboxErrors.sandboxUnavailable({ name, crashes: rest.crashes }, { retryAfterMs: rest.leftMs });
    if (!guest && options.check) {
      checking ??= options.check().finally(() => {
        checking = undefined;
      });
      await checking;
    }
    return guest ?? open();
  };
  /** A guest that has started, and that no other has replaced meanwhile. */
  const ready = async (what: string, course: Course): Promise<HostGuest> => {
    for (;;) {
      course.over.throwIfAborted();
      const current = await course.until(warm(what));
      await course.until(current.started);
      if (current === guest) return current;
    }
  };

  return {
    get isAlive() {
      return guest !== undefined;
    },
    start: async () => (await warm("")).started,
    async call(what, args, { signal, timeoutMs: limitMs = limits.callMs } = {}) {
      let isWaiting = true;
      const tooLate = () => sandboxErrors.sandboxTimeout({ name, what, limitMs, ...(isWaiting ? { isWaiting } : {}) });
      const course = startCourse({ signal, limitMs, tooLate });
      try {
        const place = await admit(course.over);
        try {
          const current = await ready(what, course);
          isWaiting = false;
          return await current.call(what, args, course);
        } finally {
          place.dispose();
        }
      } finally {
        course.dispose();
      }
    },
    restart: () => guest?.end("it was restarted"),
    renew() {
      leaving?.end("it was replaced again");
      leaving = guest;
      guest = undefined;
      leaving?.retire("it was replaced");
    },
    dispose() {
      disposed = true;
      guest?.end("it was stopped");
      leaving?.end("it was stopped");
    },
  };
}
