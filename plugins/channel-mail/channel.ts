import { type Channel, type ChannelRun, keepConnected, NotDispatchedError, type PluginKv, type PluginVendor } from "svc/sdk";
import { CHANNEL_ID, inspectAccount, listAccounts, type MailAccount, mailboxDigest, resolveAccount, secretValues } from "./accounts.ts";
import { toAddress } from "./address.ts";
import type { Reach } from "./connect.ts";
import { audit, probe } from "./inspection.ts";
import { createHandler, linkOnce, type Mailroom } from "./link.ts";
import { MailParser } from "./parser.ts";
import { ProgressStore } from "./progress.ts";
import { messageWithout } from "./refusals.ts";
import { renderText } from "./rendered-text.ts";
import { sendMail } from "./sending.ts";
import { Threads } from "./threads.ts";
import { type MailTiming, TIMING } from "./timing.ts";
import { AccessTokens, type Fetch } from "./tokens.ts";

/** Longest text that is sent as one mail: mails have no limit of their own. */
const MAX_TEXT_CHARS = 1_000_000;
/** Largest attachments of one mail: many servers take 25 MiB, a third more than what was attached. */
const MAX_MEDIA_BYTES = 18 * 1024 * 1024;

/** Parts of the host that the channel uses. */
export interface MailDeps {
  vendor: PluginVendor;
  kv: Pick<PluginKv, "get" | "set" | "delete" | "list">;
  fetch: Fetch;
  now(): number;
}

/** Creates the channel. @param times times that differ from those of a release */
export function createMailChannel(deps: MailDeps, times: Partial<MailTiming> = {}): Channel<MailAccount> {
  const timing = { ...TIMING, ...times };
  const rooms = new WeakMap<ChannelRun<MailAccount>, Mailroom>();
  const reachOf = (account: MailAccount): Reach => ({
    account,
    vendor: deps.vendor,
    timing,
    tokens: account.oauth ? new AccessTokens(account.oauth, deps) : undefined,
  });
  return {
    id: CHANNEL_ID,
    meta: { label: "Mail", docs: "plugins/channel-mail/README.md", aliases: ["email"], targetPrefixes: [CHANNEL_ID, "mailto"] },
    capabilities: {
      chatTypes: ["direct"],
      threads: true,
      replyTo: true,
      media: { in: true, out: true, maxBytes: MAX_MEDIA_BYTES },
      multiAccount: true,
      // An answer is one letter.
      wholeAnswers: true,
    },
    config: {
      list: listAccounts,
      resolve: resolveAccount,
      inspect: inspectAccount,
      identity: ({ imap }) => `${imap.host}:${imap.port}/${imap.user}/${imap.mailbox}`,
    },
    async start(run) {
      const { account, logger } = run;
      const mailbox = mailboxDigest(account);
      const room: Mailroom = {
        run,
        reach: reachOf(account),
        progress: new ProgressStore(deps.kv, mailbox),
        threads: new Threads({ kv: deps.kv, mailbox, logger }),
        parser: new MailParser({ vendor: deps.vendor, limitMs: timing.parseMs }),
      };
      try {
        await room.threads.open();
        rooms.set(run, room);
        const handle = createHandler(room);
        run.state({ self: { id: account.address, name: account.address } });
        await keepConnected(run, {
          firstWaitMs: timing.reconnectMs,
          random: Math.random,
          connect: (onReady) => linkOnce(room, handle, onReady),
          describe: (reason) => messageWithout(reason, [...secretValues(account), ...(room.reach.tokens?.secrets ?? [])]),
        });
      } finally {
        rooms.delete(run);
        await room.parser.close();
      }
    },
    async send(message, run) {
      const room = rooms.get(run);
      if (!room) throw new NotDispatchedError("the account is not running");
      return sendMail(message, { reach: room.reach, threads: room.threads, signal: run.signal, now: () => run.clock.now() });
    },
    probe: (account, signal) => probe(reachOf(account), signal),
    audit: (account, signal) => audit(reachOf(account), signal),
    target: { normalize: (raw) => toAddress(raw) ?? null, format: (address) => address },
    text: { limit: MAX_TEXT_CHARS, unit: "utf16", render: renderText },
  };
}
