import { messageOf } from "../errors.ts";
import { sleep } from "../time.ts";
import type { ChannelRun } from "../types/channel.ts";

const MAX_WAIT_MS = 60_000;
/** A link that held this long starts the waits over. */
const STEADY_MS = 60_000;

/** The platform refuses the account as it is configured: {@link keepConnected} blocks the account instead of trying again. */
export class AccountRefusedError extends Error {
  override readonly name = "AccountRefusedError";
}

/** The one platform-specific part of {@link keepConnected}. */
export interface KeepConnectedOptions {
  /** First wait before a new link: 1.8 times longer each time, 60 s at most, a fifth more or less. */
  firstWaitMs: number;
  /** In [0, 1). */
  random(): number;
  /**
   * Makes one link and resolves when it is gone, with the reason unless it was closed from here; a rejection is a reason too.
   * @param onReady to be called once, when messages can be sent
   */
  connect(onReady: () => void): Promise<Error | undefined>;
  /** Makes a reason safe to show: without credentials. Default: its message. */
  describe?(reason: Error): string;
}

/**
 * Links an account, and links it again until its signal ends it or the platform refuses it ({@link AccountRefusedError}); keeps the account's state up to date. To be
 * returned by `Channel.start`.
 */
export async function keepConnected(
  run: Pick<ChannelRun, "signal" | "clock" | "logger" | "state">,
  { firstWaitMs, random, connect, describe = messageOf }: KeepConnectedOptions,
): Promise<void> {
  let attempt = 0;
  run.state({ lifecycle: "starting", connected: false });
  while (!run.signal.aborted) {
    let readyAt: number | undefined;
    const end = await connect(() => {
      readyAt = run.clock.monotonic();
      run.state({ lifecycle: "ready", connected: true });
    }).catch((error: unknown) => (error instanceof Error ? error : new Error(messageOf(error))));
    if (run.signal.aborted) break;
    const lastError = describe(end ?? new Error("the link was closed"));
    if (end instanceof AccountRefusedError) return run.state({ lifecycle: "blocked", connected: false, lastError });
    attempt = readyAt !== undefined && run.clock.monotonic() - readyAt > STEADY_MS ? 1 : attempt + 1;
    const waitMs = reconnectWaitMs(firstWaitMs, attempt, random());
    run.state({ lifecycle: "recovering", connected: false, lastError });
    run.logger.debug("the link is made again", { attempt, waitMs });
    await sleep(waitMs, run.signal).catch(() => undefined);
  }
  run.state({ lifecycle: "stopped", connected: false });
}

/** Returns the wait before a new link in ms. @param attempt links that broke or failed in a row, from 1 @param random in [0, 1) */
export function reconnectWaitMs(firstMs: number, attempt: number, random: number): number {
  return Math.round(Math.min(MAX_WAIT_MS, firstMs * 1.8 ** (attempt - 1)) * (0.8 + 0.4 * random));
}
