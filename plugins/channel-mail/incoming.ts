import { createHash } from "node:crypto";
import type { ChannelRun, InboundEvent } from "svc/sdk";
import { isSvcError, messageOf } from "svc/sdk";
import type { ParsedAttachment, ParsedMail } from "./mime.ts";
import { withoutQuotedMail } from "./quoted-mail.ts";

/** Longest id that the host takes; a longer one is named by its digest. */
const MAX_ID_CHARS = 400;

const faults: Readonly<Record<NonNullable<ParsedMail["fault"]>, string>> = {
  headers: "its header is longer than 64 KiB",
  parts: "it has more than 1,000 parts",
  nesting: "its parts lie too deep in each other",
  size: "it is too large, and only its beginning was read",
  unreadable: "it cannot be parsed",
};

/** Id of a mail for the host: what its sender gave it, and for a mail without one a digest of its bytes, which stay the same wherever it lies. */
export function idOf({ messageId }: Pick<ParsedMail, "messageId">, raw: Uint8Array): string {
  if (messageId !== undefined && messageId.length <= MAX_ID_CHARS) return messageId;
  const digest = createHash("sha256").update(messageId ?? raw);
  return `sha256-${digest.digest("hex")}`;
}

/** A mail as the host takes it, without its attachments. */
export function toEvent(mail: ParsedMail, { id, root }: { id: string; root: string }): InboundEvent | undefined {
  const [author] = mail.from;
  if (!author) return undefined;
  const name = author.name === "" ? {} : { name: author.name };
  return {
    id,
    chatType: "direct",
    peer: { id: author.address, ...name },
    sender: { id: author.address, ...name },
    threadId: root,
    text: textOf(mail, root === id),
    ...(mail.inReplyTo === undefined ? {} : { replyTo: { id: mail.inReplyTo } }),
    ...(mail.date === undefined ? {} : { providerAt: mail.date }),
  };
}

/** Text as the agent reads it: the subject before the first mail of a thread, and notes in brackets about what is not in it. */
function textOf({ subject, text: whole, hiddenChars, leftOut, fault }: ParsedMail, isFirst: boolean): string {
  // The agent knows the thread; in the first mail of one a quotation is news.
  const text = isFirst ? whole : withoutQuotedMail(whole);
  const title = subject.replace(/\s+/g, " ").trim();
  const notes = [
    ...(fault === undefined ? [] : [`[The body of this mail was not read as a whole: ${faults[fault]}.]`]),
    ...(hiddenChars > 0 ? [`[${hiddenChars} characters that this mail hides from its readers were left out.]`] : []),
    ...leftOut.map((name) => `[Attachment ${JSON.stringify(name)} was left out.]`),
  ];
  const parts = [...(isFirst && title !== "" ? [`Subject: ${title}`] : []), text, ...notes];
  return parts.filter((part) => part.trim() !== "").join("\n\n");
}

type Media = NonNullable<InboundEvent["media"]>;

/** Hands attachments to the host. What it does not take is named in the text. @throws when it cannot store anything now */
export async function withMedia(event: InboundEvent, attachments: readonly ParsedAttachment[], run: ChannelRun): Promise<InboundEvent> {
  if (attachments.length === 0) return event;
  const media: Media = [];
  // Mail of a stranger is not stored; the host hears of it, so that an attachment alone is a message too.
  if ((await run.admits?.(event)) === false)
    return {
      ...event,
      media: attachments.map(({ name, mime }) => ({ kind: kindOf(mime), mime, ...(name === undefined ? {} : { name }) })),
    };
  const notes: string[] = [];
  for (const { name, mime, content } of attachments) {
    const about = { mime, ...(name === undefined ? {} : { name }) };
    try {
      media.push({ kind: kindOf(mime), ...about, ...(await run.saveMedia(content, about)) });
    } catch (error) {
      if (!isSvcError(error, "media-too-large")) throw error;
      notes.push(`[Attachment ${JSON.stringify(name ?? mime)} was left out: ${messageOf(error)}]`);
    }
  }
  const text = [event.text, ...notes].filter((part) => part !== "").join("\n\n");
  return { ...event, text, ...(media.length === 0 ? {} : { media }) };
}

function kindOf(mime: string): string {
  const kind = mime.split("/")[0] ?? "";
  return ["image", "audio", "video"].includes(kind) ? kind : "file";
}
