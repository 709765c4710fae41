import { isIP } from "node:net";
import type { Channel } from "svc/sdk";
import { type ServerSettings, secretValues } from "./accounts.ts";
import type { ImapClient } from "./client.ts";
import { connectImap, connectSmtp, type Reach } from "./connect.ts";
import { messageWithout } from "./refusals.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

/** Logs in to both servers beside the running account, and leaves. No mail is sent. */
export async function probe(reach: Reach, signal: AbortSignal): Promise<Probe> {
  const started = performance.now();
  const results = await Promise.all([visitImap(reach, signal), visitSmtp(reach, signal)]);
  const ms = Math.round(performance.now() - started);
  const errors = results.flatMap(({ error }) => (error === undefined ? [] : [error]));
  if (errors.length > 0) return { ok: false, ms, error: errors.join("; ") };
  return { ok: true, ms, identity: reach.account.address };
}

/** Says what at the servers, or in the config, will make trouble. */
export async function audit(reach: Reach, signal: AbortSignal): Promise<Finding[]> {
  const { imap, smtp } = reach.account;
  const [inbox, outbox] = await Promise.all([visitImap(reach, signal), visitSmtp(reach, signal)]);
  return [
    encryption("imap-tls", imap),
    encryption("smtp-tls", smtp),
    senders(reach),
    inbox.error === undefined
      ? { id: "imap", ok: true, message: "the IMAP server accepts the account" }
      : { id: "imap", ok: false, message: inbox.error },
    outbox.error === undefined
      ? { id: "smtp", ok: true, message: "the SMTP server accepts the account" }
      : { id: "smtp", ok: false, message: outbox.error },
    ...(inbox.findings ?? []),
  ];
}

/** Says how far the address of a sender can be trusted; `doctor.ts` says it without a running account. */
function senders({ account: { acceptsUnverified, authservIds } }: Pick<Reach, "account">): Finding {
  const id = "senders";
  if (!acceptsUnverified)
    return { id, ok: true, message: `senders are believed when ${authservIds.join(" or ")} says that they are authentic` };
  const message =
    "unverifiedSenders is accept: anybody who writes the address of an allowed sender into From is taken for them; set authservId";
  return { id, ok: false, message };
}

function encryption(id: string, { security, host }: ServerSettings): Finding {
  if (security !== "none") return { id, ok: true, message: "the link is encrypted" };
  const isHere = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  if (isHere) return { id, ok: true, message: "the link is not encrypted, and stays on this machine" };
  return { id, ok: false, message: "the link is not encrypted: the password and every mail can be read on the way; set security to tls" };
}

interface Visit {
  error?: string;
  findings?: Finding[];
}

async function visitImap(reach: Reach, signal: AbortSignal): Promise<Visit> {
  let client: ImapClient | undefined;
  try {
    client = await connectImap(reach, signal);
    const { permanentFlags } = await client.mailboxOpen(reach.account.imap.mailbox, { readOnly: true });
    const hasKeywords = permanentFlags === undefined || permanentFlags.size === 0 || permanentFlags.has("\\*");
    return {
      findings: [
        client.capabilities.has("IDLE")
          ? { id: "idle", ok: true, message: "the server says at once when a mail comes" }
          : { id: "idle", ok: false, message: `the server has no IDLE: it is asked every ${reach.account.pollIntervalMs / 1_000} s` },
        hasKeywords
          ? { id: "keywords", ok: true, message: "handled mails are marked in the mailbox" }
          : {
              id: "keywords",
              ok: false,
              message: "the mailbox takes no keywords: after a change of UIDVALIDITY only unread mails are looked through",
            },
      ],
    };
  } catch (error) {
    return { error: shown(error, reach) };
  } finally {
    client?.close();
  }
}

async function visitSmtp(reach: Reach, signal: AbortSignal): Promise<Visit> {
  try {
    const { client } = await connectSmtp(reach, signal);
    client.quit();
    return {};
  } catch (error) {
    return { error: `SMTP: ${shown(error, reach)}` };
  }
}

function shown(error: unknown, { account, tokens }: Reach): string {
  return messageWithout(error, [...secretValues(account), ...(tokens?.secrets ?? [])]);
}
