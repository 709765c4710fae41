import { backoffDelayMs, type Clock, createError, messageOf, type SvcError } from "svc/sdk";
import { storeErrors } from "./errors.ts";
import { startWriterLink, type WriterLink } from "./writer-link.ts";
import type { Opened, WriterReply, WriterSetup } from "./writer-messages.ts";

const openTimeoutMs = 25_000;
const longestRestartMs = 30_000;
/** Up this long, a thread's end is a new story and starts with the short pause. */
const stableMs = 60_000;

export interface KeeperOptions {
  /** The file that is written to now. */
  path(): string;
  clock: Clock;
  /** First pause before a dead thread is started again; doubles up to 30 s. */
  restartMs: number;
  setup: Pick<WriterSetup, "failpoint" | "faults">;
  /** Another thread has taken over. */
  onUp(opened: Opened): void;
  onDown(error: SvcError): void;
}

/** Keeps one writer thread alive: starts it, and starts another with backoff when it ends. */
export interface LinkKeeper {
  /** @throws {SvcError} the reason of the opening, or `store-open-failed` */
  open(): Promise<Opened>;
  /** Undefined while no thread is ready. */
  readonly link: WriterLink | undefined;
  close(): Promise<void>;
}

export function createLinkKeeper(options: KeeperOptions): LinkKeeper {
  let started: WriterLink | undefined;
  let ready = false;
  let failures = 0;
  let upSince = 0;
  let restart: NodeJS.Timeout | undefined;
  let closed = false;

  async function start(again: boolean): Promise<Opened> {
    const { clock, setup } = options;
    const path = options.path();
    // A failpoint is for the first thread; the one that takes over must live.
    const data: WriterSetup = { path, now: clock.now(), again, ...(again && setup.faults ? { faults: setup.faults } : again ? {} : setup) };
    const link = startWriterLink(data, (error) => {
      if (started !== link || !ready) return;
      ready = false;
      options.onDown(error);
      scheduleRestart();
    });
    started = link;
    try {
      const opened = toOpened(await link.request({ type: "open" }, openTimeoutMs), path);
      ready = true;
      upSince = clock.monotonic();
      return opened;
    } catch (error) {
      await link.terminate();
      throw error;
    }
  }

  function scheduleRestart(): void {
    if (closed) return;
    if (options.clock.monotonic() - upSince > stableMs) failures = 0;
    restart = setTimeout(tryAgain, backoffDelayMs(failures + 1, { firstMs: options.restartMs, maxMs: longestRestartMs }));
    restart.unref();
    failures += 1;
  }

  async function tryAgain(): Promise<void> {
    if (closed) return;
    try {
      const opened = await start(true);
      if (!closed) options.onUp(opened);
    } catch {
      scheduleRestart();
    }
  }

  return {
    open: () => start(false),
    get link() {
      return ready ? started : undefined;
    },
    async close() {
      closed = true;
      ready = false;
      clearTimeout(restart);
      await started?.terminate();
    },
  };
}

function toOpened(reply: WriterReply, path: string): Opened {
  if (reply.type === "opened") return reply;
  if (reply.type === "refused") throw createError(storeErrors, reply.refusal.code, reply.refusal.fields);
  throw storeErrors.storeOpenFailed({ path, reason: reply.type === "failed" ? reply.message : messageOf(reply.type) });
}
