import type { Logger } from "../../sdk/types/common.ts";
import { createAdmission } from "../process/admission.ts";
import { type CallDeadline, startDeadline } from "./call-deadline.ts";
import type { IsolationMode } from "./cell.ts";
import { sandboxErrors } from "./errors.ts";
import { type BackoffScope, createGuestBackoff } from "./guest-backoff.ts";
import { type HostGuest, openHostGuest } from "./host-guest.ts";

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
  backoff?: BackoffScope;
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
   * @param options.onUpdate gets lines of progress, as the guest tells them
   * @throws {SvcError} `sandbox-failed` with the guest's words, `sandbox-invalid-input`, `sandbox-timeout` (`fields.isWaiting` when the call had not begun), `sandbox-crashed`, `busy`, `sandbox-unavailable`, `sandbox-too-large`
   */
  call(
    name: string,
    args: unknown,
    options?: { signal?: AbortSignal; timeoutMs?: number; onUpdate?: (text: string) => void },
  ): Promise<unknown>;
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
  return new GuestSandbox(options);
}

class GuestSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #limits: SandboxLimits;
  readonly #now: () => number;
  readonly #admit: ReturnType<typeof createAdmission>;
  readonly #backoff: ReturnType<typeof createGuestBackoff>;
  #guest: HostGuest | undefined;
  /** Finishes what it has begun. */
  #leaving: HostGuest | undefined;
  #checking: Promise<void> | undefined;
  #isDisposed = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#limits = { ...sandboxLimits, ...options.limits };
    this.#now = options.now ?? (() => performance.now());
    this.#admit = createAdmission({ maxActive: this.#limits.inFlight, maxWaiting: this.#limits.waiting });
    this.#backoff = createGuestBackoff({ scope: options.backoff ?? "guest", now: this.#now });
  }

  get isAlive(): boolean {
    return this.#guest !== undefined;
  }

  async start(): Promise<unknown> {
    return (await this.#warm("")).started;
  }

  async call(what: string, args: unknown, options: CallOptions = {}): Promise<unknown> {
    const { signal, timeoutMs: limitMs = this.#limits.callMs, onUpdate } = options;
    const { name } = this.#options;
    let isWaiting = true;
    const tooLate = () => sandboxErrors.sandboxTimeout({ name, what, limitMs, ...(isWaiting ? { isWaiting } : {}) });
    const deadline = startDeadline({ signal, limitMs, tooLate });
    try {
      const place = await this.#admit(deadline.over);
      try {
        const current = await this.#ready(what, deadline);
        isWaiting = false;
        return await current.call(what, args, { deadline, onUpdate });
      } finally {
        place.dispose();
      }
    } finally {
      deadline.dispose();
    }
  }

  restart(): void {
    this.#guest?.end("it was restarted");
  }

  renew(): void {
    this.#leaving?.end("it was replaced again");
    this.#leaving = this.#guest;
    this.#guest = undefined;
    this.#leaving?.retire("it was replaced");
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#guest?.end("it was stopped");
    this.#leaving?.end("it was stopped");
  }

  #open(): HostGuest {
    const { name, mode, logger, guest, program } = this.#options;
    const limits = this.#limits;
    if (this.#isDisposed) throw sandboxErrors.sandboxCrashed({ name, mode, reason: "it was stopped" });
    const read = readablePaths(this.#options);
    let made: HostGuest | undefined;
    made = openHostGuest({
      name,
      limits,
      logger,
      now: this.#now,
      cell: { mode, guest, read, memoryMb: limits.memoryMb, ...(program === undefined ? {} : { program }) },
      data: this.#options.data(),
      onEnd: (blamed) => {
        if (this.#guest === made) this.#guest = undefined;
        if (this.#leaving === made) this.#leaving = undefined;
        if (blamed) this.#backoff.count(blamed);
      },
    });
    this.#guest = made;
    return made;
  }

  /** The guest that is there, or a new one, once its files were found to be the right ones. */
  async #warm(what: string): Promise<HostGuest> {
    const { name, check } = this.#options;
    const backoff = this.#backoff.of(what);
    if (backoff) throw sandboxErrors.sandboxUnavailable({ name, crashes: backoff.crashes }, { retryAfterMs: backoff.leftMs });
    if (!this.#guest && check) {
      this.#checking ??= check().finally(() => {
        this.#checking = undefined;
      });
      await this.#checking;
    }
    return this.#guest ?? this.#open();
  }

  /** A guest that has started, and that no other has replaced meanwhile. */
  async #ready(what: string, deadline: CallDeadline): Promise<HostGuest> {
    for (;;) {
      deadline.over.throwIfAborted();
      const current = await deadline.until(this.#warm(what));
      await deadline.until(current.started);
      if (current === this.#guest) return current;
    }
  }
}

type CallOptions = NonNullable<Parameters<Sandbox["call"]>[2]>;
