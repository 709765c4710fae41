import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ChannelPeer, type PeerAction, startPacketProxy } from "svc/sdk/testing";
import { type Dovecot, startDovecot } from "./dovecot.ts";
import { deliver } from "./lmtp.ts";
import { readMail } from "./read-mail.ts";
import { startSmtpInbox, type TakenMail } from "./smtp-inbox.ts";
import { startTcpTap } from "./tcp-tap.ts";

const WRONG = "pw-wrong-0000";
const ADA = "ada@example.org";
/** Name of the receiving server in what it says of senders. */
export const AUTHSERV_ID = "mx.example.org";

/** Other sides of mail accounts: one dovecot for all of them, and for each a mailbox of its own, an SMTP server, and Ada who writes. */
export async function startMailPeers(): Promise<{ dovecot: Dovecot; peer(): Promise<ChannelPeer>; stop(): Promise<void> }> {
  const dovecot = await startDovecot();
  let peers = 0;
  return { dovecot, peer: () => startMailPeer(dovecot, ++peers), stop: () => dovecot.stop() };
}

async function startMailPeer(dovecot: Dovecot, number: number): Promise<ChannelPeer> {
  const tap = await startTcpTap({ serverPort: dovecot.port });
  const proxy = await startPacketProxy(tap.port);
  const seen: PeerAction[] = [];
  const smtp = await startSmtpInbox({ password: dovecot.password, onMail: async (mail) => void seen.push(await toAction(mail)) });
  const addressOf = (accountId: string) => `${accountId}-${number}@example.net`;
  const readers = new Map<string, string>();
  let said = 0;

  return {
    config({ accounts, credentials }) {
      const server = { host: "127.0.0.1", security: "none" };
      return {
        address: addressOf("default"),
        password: credentials === "good" ? dovecot.password : WRONG,
        imap: { ...server, port: proxy.port },
        smtp: { ...server, port: smtp.port },
        authservId: AUTHSERV_ID,
        pollIntervalMs: 5_000,
        ...(accounts === 2 ? { accounts: { second: { address: addressOf("second") } } } : {}),
      };
    },
    secrets: [dovecot.password, WRONG],
    direct: ADA,
    seen,
    async say({ accountId, text, threadId, replyToId }) {
      const id = `said-${number}-${++said}@example.org`;
      const to = addressOf(accountId);
      readers.set(id, to);
      const mail = toMime({
        id,
        to,
        text,
        ...(threadId === undefined ? {} : { threadId }),
        ...(replyToId === undefined ? {} : { replyToId }),
      });
      await deliver(dovecot.lmtpPort, mail, { from: ADA, to });
      return id;
    },
    acknowledged(messageId) {
      const folder = join(dovecot.maildir(readers.get(messageId) ?? ""), "cur");
      return filesIn(folder).some((name) => /:2,.*S/.test(name) && readFileSync(join(folder, name), "utf8").includes(`<${messageId}>`));
    },
    packets: (shape) => proxy.shape(shape),
    drop: () => tap.cut(),
    connections: () => tap.links.size,
    async close() {
      await proxy.close();
      await tap.close();
      await smtp.close();
    },
  };
}

/** A mail of Ada's as the receiving server passes it on: what it thinks of the sender stands on top. */
function toMime({
  id,
  to,
  text,
  threadId,
  replyToId,
}: {
  id: string;
  to: string;
  text: string;
  threadId?: string;
  replyToId?: string;
}): string {
  const root = threadId ?? replyToId;
  return [
    `Authentication-Results: ${AUTHSERV_ID}; dmarc=pass header.from=example.org`,
    `From: Ada <${ADA}>`,
    `To: ${to}`,
    `Message-ID: <${id}>`,
    ...(root === undefined ? [] : [`References: <${root}>`]),
    ...(replyToId === undefined ? [] : [`In-Reply-To: <${replyToId}>`]),
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    Buffer.from(text).toString("base64").replace(/.{76}/g, "$&\r\n"),
    "",
  ].join("\r\n");
}

async function toAction({ raw, to }: TakenMail): Promise<PeerAction> {
  const mail = await readMail(raw);
  const threadId = bare(mail.references?.split(/\s+/)[0]);
  const replyToId = bare(mail.inReplyTo);
  return {
    kind: "message",
    to: to[0] ?? "",
    text: (mail.text ?? "").replace(/\n$/, ""),
    messageId: bare(mail.messageId) ?? "",
    ...(threadId === undefined ? {} : { threadId }),
    ...(replyToId === undefined ? {} : { replyToId }),
  };
}

const bare = (id: string | undefined) => id?.replace(/^<|>$/g, "");

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
