import { type ChannelRun, keepConnected } from "svc/sdk";
import { type IrcAccount, secretValues } from "./accounts.ts";
import { messageWithout, nicksOf } from "./handshake.ts";
import { link } from "./link.ts";
import { Session } from "./session.ts";
import type { IrcTiming } from "./timing.ts";

interface KeepOptions {
  timing: IrcTiming;
  /** In [0, 1). */
  random(): number;
  /** Called with the link that messages are sent over, and with undefined when there is none. */
  hold(session: Session | undefined): void;
}

/** Links an account, and links it again until it is stopped; refused credentials and bans end it. */
export async function keepLinked(run: ChannelRun<IrcAccount>, { timing, random, hold }: KeepOptions): Promise<void> {
  const secrets = secretValues(run.account);
  return keepConnected(run, {
    firstWaitMs: timing.reconnectMs,
    random,
    describe: (reason) => messageWithout(reason, secrets),
    connect: (onReady) =>
      link({
        account: run.account,
        nicks: nicksOf(run.account, random),
        timing,
        signal: run.signal,
        onWelcome(wire, welcome) {
          const session = new Session({ run, wire, welcome, timing });
          const onEntered = () => {
            hold(session);
            onReady();
          };
          // The end of the link says why it could not enter.
          session.enter().then(onEntered, () => undefined);
          return (line) => {
            run.alive?.();
            session.take(line);
          };
        },
      }).finally(() => hold(undefined)),
  });
}
