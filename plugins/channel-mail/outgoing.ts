import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { OutboundMessage } from "svc/sdk";
import type { MailAccount } from "./accounts.ts";
import { domainOf } from "./address.ts";
import type { ComposedMail, MailAttachment } from "./client.ts";
import { HTML } from "./rendered-text.ts";
import { digestOf, type Threads } from "./threads.ts";

const MAX_SUBJECT_CHARS = 78;
const MAX_REFERENCES = 20;

/** A mail that is ready to be sent, and the thread that it belongs to. */
export interface Outgoing {
  mail: ComposedMail;
  /** Without angle brackets. */
  messageId: string;
  root: string;
}

/** Makes a mail of a message. The id is the same at every try, and names the thread: a mail program may answer without saying more. */
export function toMail(message: OutboundMessage, to: string, { account, threads }: { account: MailAccount; threads: Threads }): Outgoing {
  const { uid, threadId, replyToId, text } = message;
  const root = threadId ?? (replyToId === undefined ? undefined : (threads.rootWith(replyToId) ?? replyToId));
  const thread = root === undefined ? undefined : threads.get(root);
  const digest = root === undefined ? createHash("sha256").update(uid).digest("hex").slice(0, 16) : digestOf(root);
  const messageId = `svc.${uid.replace(/[^\w-]/g, "_").slice(0, 128)}.${digest}@${domainOf(account.address)}`;
  const parent = replyToId ?? thread?.chain.at(-1) ?? root;
  const references = [...new Set([root, ...(thread?.chain ?? []), parent])].filter((id) => id !== undefined).filter(isId);
  const html = text?.parseMode === HTML && typeof text.entities?.[0] === "string" ? text.entities[0] : undefined;
  const links = (message.media ?? []).flatMap(({ path, url }) => (path === undefined && url !== undefined ? [url] : []));
  return {
    messageId,
    root: root ?? messageId,
    mail: {
      from: { name: account.fromName, address: account.address },
      to,
      subject: subjectOf(text?.text ?? "", thread?.subject, root !== undefined),
      messageId: `<${messageId}>`,
      ...(parent !== undefined && isId(parent) ? { inReplyTo: `<${parent}>` } : {}),
      ...(references.length === 0 ? {} : { references: references.slice(-MAX_REFERENCES).map((id) => `<${id}>`) }),
      // RFC 3834: no program answers this mail. The second one is for Exchange, which goes by it.
      headers: { "Auto-Submitted": root === undefined ? "auto-generated" : "auto-replied", "X-Auto-Response-Suppress": "All" },
      text: [text?.text ?? "", ...links].filter((part) => part !== "").join("\n\n"),
      ...(html === undefined || links.length > 0 ? {} : { html }),
      attachments: attachmentsOf(message),
      disableFileAccess: true,
      disableUrlAccess: true,
    },
  };
}

function subjectOf(text: string, known: string | undefined, isAnswer: boolean): string {
  if (!isAnswer) {
    const first = text.split("\n").find((line) => line.trim() !== "") ?? "A message";
    const line = first.replace(/\s+/g, " ").trim();
    return line.length <= MAX_SUBJECT_CHARS ? line : `${line.slice(0, MAX_SUBJECT_CHARS - 2).trimEnd()} …`;
  }
  const bare = (known ?? "").replace(/^(?:\s{0,5}(?:re|aw|sv|antw)\s{0,5}:){1,20}/i, "").trim();
  return `Re: ${bare === "" ? "your mail" : bare}`;
}

function attachmentsOf({ media = [] }: OutboundMessage): MailAttachment[] {
  return media.flatMap(({ path, name, mime }) =>
    path === undefined ? [] : [{ filename: name ?? "attachment", contentType: mime, content: createReadStream(path) }],
  );
}

const isId = (id: string) => /^[^\s<>]{1,500}$/.test(id);
