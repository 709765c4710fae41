import { type Channel, type ChannelRun, NotDispatchedError } from "svc/sdk";
import { CHANNEL_ID, type IrcAccount, inspectAccount, listAccounts, resolveAccount } from "./accounts.ts";
import { audit, probe } from "./inspection.ts";
import { keepLinked } from "./keep-linked.ts";
import { normalizeTarget } from "./names.ts";
import { renderText } from "./rendered-text.ts";
import type { Session } from "./session.ts";
import { MAX_TEXT_BYTES } from "./split.ts";
import { type IrcTiming, TIMING } from "./timing.ts";

/** Creates the channel. @param times times that differ from those of a release */
export function createIrcChannel(times: Partial<IrcTiming> = {}): Channel<IrcAccount> {
  const timing = { ...TIMING, ...times };
  const sessions = new WeakMap<ChannelRun<IrcAccount>, Session>();
  return {
    id: CHANNEL_ID,
    meta: { label: "IRC", docs: "plugins/channel-irc/README.md", targetPrefixes: [CHANNEL_ID] },
    // IRC has none of the others: what was said cannot be changed, and a message has no id that another could name.
    capabilities: { chatTypes: ["direct", "group"], multiAccount: true },
    config: {
      list: listAccounts,
      resolve: resolveAccount,
      inspect: inspectAccount,
      identity: ({ host, port, nick }) => `${host}:${port}/${nick}`,
    },
    start: (run) =>
      keepLinked(run, {
        timing,
        random: Math.random,
        hold: (session) => (session ? sessions.set(run, session) : sessions.delete(run)),
      }),
    async send({ to, text }, run) {
      const session = sessions.get(run);
      if (!session) throw new NotDispatchedError("there is no link to the server");
      return session.say(to, text?.text ?? "");
    },
    probe: (account, signal) => probe(account, timing, signal),
    audit: (account, signal) => audit(account, timing, signal),
    target: { normalize: normalizeTarget, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT_BYTES, unit: "bytes", render: renderText },
  };
}
