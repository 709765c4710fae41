import { type Channel, type ChannelRun, keepConnected, NotDispatchedError } from "svc/sdk";
import { CHANNEL_ID, inspectAccount, listAccounts, resolveAccount, type SignalAccount } from "./accounts.ts";
import type { Daemon } from "./daemon.ts";
import { audit, probe } from "./inspection.ts";
import { type LinkedAccounts, linkDevice, unlinkDevice } from "./linking.ts";
import { renderText } from "./rendered-text.ts";
import { deleteMessage, editMessage, MAX_MEDIA_BYTES, sendMessage, sendReaction, sendTyping } from "./sending.ts";
import { runSession } from "./session.ts";
import { normalizeTarget } from "./targets.ts";
import { type SignalTiming, TIMING } from "./timing.ts";

/** Longest text of one message, in characters: Signal's clients send longer ones as a file. */
const MAX_TEXT = 2_000;

type Run = ChannelRun<SignalAccount>;

/** Creates the channel. @param times times that differ from those of a release */
export function createSignalChannel(linked: LinkedAccounts, times: Partial<SignalTiming> = {}): Channel<SignalAccount> {
  const timing = { ...TIMING, ...times };
  const daemons = new WeakMap<Run, Daemon>();
  const daemonOf = (run: Run): Daemon => {
    const daemon = daemons.get(run);
    if (!daemon) throw new NotDispatchedError("there is no link to the daemon");
    return daemon;
  };
  return {
    id: CHANNEL_ID,
    meta: { label: "Signal", docs: "plugins/channel-signal/README.md", targetPrefixes: [CHANNEL_ID] },
    capabilities: {
      chatTypes: ["direct", "group"],
      replyTo: true,
      reactions: true,
      edit: true,
      unsend: true,
      typing: true,
      media: { in: true, out: true, maxBytes: MAX_MEDIA_BYTES },
      multiAccount: true,
      caseSensitiveIds: true, // ids of groups are base64
    },
    config: { list: listAccounts, resolve: resolveAccount, inspect: inspectAccount, identity: ({ account }) => account },
    start: (run) =>
      keepConnected(run, {
        firstWaitMs: timing.reconnectMs,
        random: Math.random,
        connect: (onReady) =>
          runSession({ run, timing, onReady, hold: (daemon) => (daemon ? daemons.set(run, daemon) : daemons.delete(run)) }),
      }),
    send: async (message, run) => sendMessage(message, { call: daemonOf(run).call, self: run.account.account }, run.clock.now()),
    edit: async ({ to, messageId, text }, run) => editMessage(to, messageId, text, daemonOf(run)),
    unsend: async ({ to, messageId }, run) => deleteMessage(to, messageId, daemonOf(run)),
    react: async ({ to, messageId, emoji }, run) => sendReaction(to, messageId, emoji, daemonOf(run)),
    typing: async (to, on, run) => sendTyping(to, on, daemonOf(run)),
    probe: (account, signal) => probe(account, timing, signal),
    audit: (account, signal) => audit(account, timing, signal),
    login: (request) => linkDevice(request, { timing, linked }),
    logout: (request) => unlinkDevice(request, { timing, linked }),
    target: { normalize: normalizeTarget, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT, unit: "utf16", render: renderText },
  };
}
