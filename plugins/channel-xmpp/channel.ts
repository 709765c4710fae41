import { type Channel, type ChannelRun, NotDispatchedError } from "svc/sdk";
import { CHANNEL_ID, inspectAccount, listAccounts, resolveAccount, type XmppAccount } from "./accounts.ts";
import { normalizeTarget } from "./address.ts";
import { audit, probe } from "./inspection.ts";
import { keepLinked } from "./keep-linked.ts";
import { renderText } from "./rendered-text.ts";
import type { Session } from "./session.ts";
import { TIMING, type XmppTiming } from "./timing.ts";

/** Bytes of one message: with every character escaped it still fits into the 256 KiB that servers take. */
const MAX_TEXT_BYTES = 50_000;

/** Creates the channel. @param times times that differ from those of a release */
export function createXmppChannel(times: Partial<XmppTiming> = {}): Channel<XmppAccount> {
  const timing = { ...TIMING, ...times };
  const sessions = new WeakMap<ChannelRun<XmppAccount>, Session>();
  const sessionOf = (run: ChannelRun<XmppAccount>): Session => {
    const session = sessions.get(run);
    if (!session) throw new NotDispatchedError("there is no link to the server");
    return session;
  };
  return {
    id: CHANNEL_ID,
    meta: { label: "XMPP", docs: "plugins/channel-xmpp/README.md", targetPrefixes: [CHANNEL_ID] },
    capabilities: { chatTypes: ["direct", "group"], edit: true, typing: true, multiAccount: true },
    config: {
      list: listAccounts,
      resolve: resolveAccount,
      inspect: inspectAccount,
      identity: ({ jid, host, port }) => `${jid} ${host ?? ""}:${port ?? ""}`,
    },
    start: (run) =>
      keepLinked(run, {
        timing,
        random: Math.random,
        hold: (session) => (session ? sessions.set(run, session) : sessions.delete(run)),
      }),
    send: async ({ to, uid, text }, run) => sessionOf(run).say(to, uid, text?.text ?? ""),
    edit: async ({ to, messageId, text }, run) => sessionOf(run).correct(to, messageId, text.text),
    typing: async (to, isOn, run) => sessionOf(run).type(to, isOn),
    probe: (account, signal) => probe(account, timing, signal),
    audit: (account, signal) => audit(account, timing, signal),
    target: { normalize: normalizeTarget, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT_BYTES, unit: "bytes", render: renderText },
  };
}
