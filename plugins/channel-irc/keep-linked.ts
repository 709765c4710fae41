import { type ChannelRun, sleep } from "svc/sdk";
import { type IrcAccount, secretValues } from "./accounts.ts";
import { messageWithout, nicksOf } from "./handshake.ts";
import { link } from "./link.ts";
import { AccountRefused } from "./refusals.ts";
import { Session } from "./session.ts";
import type { IrcTiming } from "./timing.ts";

const MAX_WAIT_MS = 60_000;
/** A link that held this long starts the waits over. */
const STEADY_MS = 60_000;

interface KeepOptions {
  timing: IrcTiming;
  /** [0, 1) */
  random(): number;
  /** Called with the link that messages are sent over, and with undefined when there is none. */
  hold(session: Session | undefined): void;
}

/** Links an account, and links it again until it is stopped; refused credentials and bans end it. */
export async function keepLinked(run: ChannelRun<IrcAccount>, { timing, random, hold }: KeepOptions): Promise<void> {
  const secrets = secretValues(run.account);
  let attempt = 0;
  run.state({ lifecycle: "starting", connected: false });
  while (!run.signal.aborted) {
    let readyAt: number | undefined;
    const end = await linkOnce(run, timing, random, (session) => {
      readyAt = run.clock.monotonic();
      hold(session);
      run.state({ lifecycle: "ready", connected: true });
    });
    hold(undefined);
    if (run.signal.aborted) break;
    const lastError = messageWithout(end ?? "the link was closed", secrets);
    if (end instanceof AccountRefused) {
      return run.state({ lifecycle: "blocked", connected: false, lastError });
    }
    attempt = readyAt !== undefined && run.clock.monotonic() - readyAt > STEADY_MS ? 1 : attempt + 1;
    const waitMs = reconnectWaitMs(timing.reconnectMs, attempt, random());
    run.state({ lifecycle: "recovering", connected: false, lastError });
    run.logger.debug("the link is made again", { attempt, waitMs });
    await sleep(waitMs, run.signal).catch(() => undefined);
  }
  run.state({ lifecycle: "stopped", connected: false });
}

/** Wait before a new link: 1.8 times longer each time, 60 s at most, a fifth more or less. @param attempt links that broke or failed in a row, from 1 */
export function reconnectWaitMs(firstMs: number, attempt: number, random: number): number {
  return Math.round(Math.min(MAX_WAIT_MS, firstMs * 1.8 ** (attempt - 1)) * (0.8 + 0.4 * random));
}

/** One link from its first packet to its last. @returns the reason why it is gone */
async function linkOnce(
  run: ChannelRun<IrcAccount>,
  timing: IrcTiming,
  random: () => number,
  onReady: (session: Session) => void,
): Promise<Error | undefined> {
  return link({
    account: run.account,
    nicks: nicksOf(run.account, random),
    timing,
    signal: run.signal,
    onWelcome(wire, welcome) {
      const session = new Session({ run, wire, welcome, timing });
      // The end of the link says why it could not enter.
      session.enter().then(
        () => onReady(session),
        () => undefined,
      );
      return (line) => session.take(line);
    },
  });
}
