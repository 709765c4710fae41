import { type ChannelRun, keepConnected, messageOf, type PluginContext } from "svc/sdk";
import { type MqttAccount, secretValues } from "./accounts.ts";
import { Ledger } from "./ledger.ts";
import type { MqttLibrary } from "./library.ts";
import { openLink } from "./link.ts";
import { withoutSecrets } from "./refusals.ts";
import { Session } from "./session.ts";
import type { MqttTiming } from "./timing.ts";

/** Parts that an account is run with. */
export interface KeepContext {
  library: MqttLibrary;
  kv: Pick<PluginContext["kv"], "get" | "set">;
  timing: MqttTiming;
  /** [0, 1) */
  random(): number;
  /** Called with the session that messages are sent over, and with undefined when there is none. */
  hold(session: Session | undefined): void;
}

/** Links an account, and links it again until it is stopped; refused credentials and another client under the same id end it. */
export async function keepLinked(run: ChannelRun<MqttAccount>, context: KeepContext): Promise<void> {
  const { timing, random, hold } = context;
  const secrets = secretValues(run.account);
  return keepConnected(run, {
    firstWaitMs: timing.reconnectMs,
    random,
    describe: (reason) => withoutSecrets(reason, secrets),
    connect: (onReady) => linkOnce(run, context, onReady).finally(() => hold(undefined)),
  });
}

/** One link from its first packet to its last. @returns the reason why it is gone @throws {Error} when there was none */
async function linkOnce(run: ChannelRun<MqttAccount>, context: KeepContext, onReady: () => void): Promise<Error | undefined> {
  const { library, kv, timing, hold } = context;
  const { account, signal } = run;
  const session = new Session({ run, ledger: await Ledger.open(kv, account), timing });
  const link = await openLink({
    library,
    account,
    clientId: account.clientId,
    timing,
    signal,
    onAccepted: (connack) => session.accepted(connack),
    onMessage: (packet) => session.take(packet),
  });
  const leave = () => session.leave();
  signal.addEventListener("abort", leave, { once: true });
  hold(session);
  session.enter(link).then(
    () => signal.aborted || onReady(),
    (error: unknown) => link.destroy(error instanceof Error ? error : new Error(messageOf(error))),
  );
  if (signal.aborted) leave();
  const end = await link.ended;
  signal.removeEventListener("abort", leave);
  return end;
}
