import { type Channel, type ChannelRun, messageOf, NotDispatchedError, type PluginContext } from "svc/sdk";
import { CHANNEL_ID, identityOf, inspectAccount, listAccounts, type MqttAccount, resolveAccount } from "./accounts.ts";
import { normalizeAddress } from "./address.ts";
import { audit, probe } from "./inspection.ts";
import { keepLinked } from "./keep-linked.ts";
import { loadLibrary, type MqttLibrary } from "./library.ts";
import { renderText } from "./rendered-text.ts";
import type { Session } from "./session.ts";
import { type MqttTiming, TIMING } from "./timing.ts";

/** Longest message, in bytes of UTF-8: brokers and small devices take that much. */
const MAX_TEXT_BYTES = 16_384;

interface ChannelOptions {
  /** Loads the client library. */
  load(): Promise<MqttLibrary>;
  kv: Pick<PluginContext["kv"], "get" | "set">;
  /** Times that differ from those of a release. */
  times?: Partial<MqttTiming>;
}

/** Creates the channel. */
export function createMqttChannel({ load: loadPackage, kv, times = {} }: ChannelOptions): Channel<MqttAccount> {
  const load = () => loadLibrary(loadPackage);
  const timing = { ...TIMING, ...times };
  const sessions = new WeakMap<ChannelRun<MqttAccount>, Session>();
  return {
    id: CHANNEL_ID,
    meta: { label: "MQTT", docs: "plugins/channel-mqtt/README.md", targetPrefixes: [CHANNEL_ID] },
    // A published message cannot be changed, and has no id that another could name.
    capabilities: { chatTypes: ["direct", "group"], multiAccount: true, caseSensitiveIds: true, wholeAnswers: true },
    config: { list: listAccounts, resolve: resolveAccount, inspect: inspectAccount, identity: identityOf },
    async start(run) {
      const library = await load().catch((error: unknown) => {
        run.state({ lifecycle: "blocked", connected: false, lastError: messageOf(error) });
        return undefined;
      });
      if (!library) return;
      const hold = (session: Session | undefined) => (session ? sessions.set(run, session) : sessions.delete(run));
      await keepLinked(run, { library, kv, timing, random: Math.random, hold });
    },
    async send(message, run) {
      const session = sessions.get(run);
      if (!session) throw new NotDispatchedError("there is no link to the broker");
      return session.send(message);
    },
    probe: async (account, signal) => probe(account, { library: await load(), timing, signal }),
    audit: async (account, signal) => audit(account, { library: await load(), timing, signal }),
    target: { normalize: normalizeAddress, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT_BYTES, unit: "bytes", render: renderText },
  };
}
