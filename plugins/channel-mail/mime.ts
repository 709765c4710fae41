import { toAddress } from "./address.ts";
import { htmlToText } from "./html-text.ts";

/** Limits that hold before a mail is parsed: they are looked for in its bytes. */
export const MAX_HEADER_BYTES = 64 * 1024;
export const MAX_PARTS = 1_000;
const MAX_NESTING = 20;
const MAX_NESTED_MAILS = 3;
/** Attachments that are kept; the host takes no more. */
export const MAX_ATTACHMENTS = 10;
/** Longest text that is looked at; the host cuts at 32 Ki characters. */
const MAX_TEXT_CHARS = 256 * 1024;
const MAX_HTML_CHARS = 1024 * 1024;
const MAX_REFERENCES = 50;
/** Dashed lines that are told apart while parts are counted. */
const MAX_MARKS = 10_000;

export interface ParsedAttachment {
  name?: string;
  mime: string;
  content: Uint8Array;
}

/** A mail as far as the channel is concerned. Everything in it was written by a stranger. */
export interface ParsedMail {
  /** Authors: more than one, or none, names nobody. */
  from: Array<{ address: string; name: string }>;
  subject: string;
  /** Ids without their angle brackets. */
  messageId?: string;
  inReplyTo?: string;
  references: string[];
  date?: number;
  /** Values of header fields that guards and checks of senders look at, in order, by lower-case name. */
  fields: Record<string, string[]>;
  text: string;
  /** Characters that a mail program would not have shown. */
  hiddenChars: number;
  attachments: ParsedAttachment[];
  /** Names of attachments that were left out. */
  leftOut: string[];
  /** Reason why the body was not read, or not to its end. */
  fault?: "headers" | "parts" | "nesting" | "size" | "unreadable";
}

/** The part of `postal-mime` 4.0.0 that is used here. */
export interface PostalMime {
  parse(
    raw: Uint8Array,
    options: { maxNestingDepth: number; maxHeadersSize: number; maxRfc822NestingDepth: number; attachmentEncoding: "arraybuffer" },
  ): Promise<PostalMail>;
  addressParser(text: string, options: { flatten: true }): Array<{ name?: string; address?: string }>;
}

interface PostalMail {
  headers: Array<{ key: string; value: string }>;
  from?: { name?: string; address?: string };
  subject?: string;
  messageId?: string;
  inReplyTo?: string;
  references?: string;
  date?: string;
  html?: string;
  text?: string;
  attachments: Array<{ filename: string | null; mimeType: string; content: ArrayBuffer | Uint8Array | string }>;
}

const keptFields = new Set([
  ...["authentication-results", "auto-submitted", "content-type", "precedence", "return-path", "x-auto-response-suppress"],
  ...["list-id", "list-post", "list-unsubscribe", "list-help", "x-loop", "x-autoreply", "x-autorespond", "x-failed-recipients"],
]);
/** Longest field that is read. */
export const MAX_FIELD_CHARS = 2_000;
const MAX_FIELDS = 20;

/**
 * Reads a mail within limits. A mail beyond them is not refused: its header is read, and `fault` says why the body was not.
 * @param isCut the bytes are only the beginning of the mail
 */
export async function parseMail(raw: Uint8Array, postal: PostalMime, isCut = false): Promise<ParsedMail> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const headEnd = headerEnd(bytes);
  if (headEnd === undefined) return { ...(await read(header(bytes), postal)), fault: "headers" };
  if (hasTooManyParts(bytes)) return { ...(await read(header(bytes, headEnd), postal)), fault: "parts" };
  try {
    const mail = await read(bytes, postal);
    if (!isCut) return mail;
    const leftOut = [...mail.attachments.map(({ name }) => name ?? "unnamed"), ...mail.leftOut];
    return { ...mail, attachments: [], leftOut, fault: "size" };
  } catch (error) {
    const fault = /nest/i.test(error instanceof Error ? error.message : "") ? "nesting" : "unreadable";
    return { ...(await read(header(bytes, headEnd), postal).catch(() => nothing)), fault };
  }
}

const nothing: ParsedMail = { from: [], subject: "", references: [], fields: {}, text: "", hiddenChars: 0, attachments: [], leftOut: [] };

async function read(raw: Uint8Array, postal: PostalMime): Promise<ParsedMail> {
  const options = { maxNestingDepth: MAX_NESTING, maxHeadersSize: 4 * MAX_HEADER_BYTES, maxRfc822NestingDepth: MAX_NESTED_MAILS };
  const mail = await postal.parse(raw, { ...options, attachmentEncoding: "arraybuffer" });
  const at = Date.parse(mail.date ?? "");
  const messageId = idsOf(mail.messageId)[0];
  const inReplyTo = idsOf(mail.inReplyTo)[0];
  return {
    from: authorsOf(mail, postal),
    subject: (mail.subject ?? "").slice(0, MAX_FIELD_CHARS),
    ...(messageId === undefined ? {} : { messageId }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    references: idsOf(mail.references),
    ...(Number.isNaN(at) ? {} : { date: at }),
    fields: fieldsOf(mail),
    ...textOf(mail),
    attachments: mail.attachments.slice(0, MAX_ATTACHMENTS).map(({ filename, mimeType, content }) => ({
      ...(filename ? { name: filename.slice(0, 200) } : {}),
      mime: mimeType.slice(0, 200),
      content: typeof content === "string" ? Buffer.from(content) : new Uint8Array(content),
    })),
    leftOut: mail.attachments.slice(MAX_ATTACHMENTS, 2 * MAX_ATTACHMENTS).map(({ filename }) => filename?.slice(0, 200) ?? "unnamed"),
  };
}

/** A person reads the HTML of a mail where it has some, so that is what the agent reads: the plain text beside it may say something else. */
function textOf({ html, text }: PostalMail): Pick<ParsedMail, "text" | "hiddenChars"> {
  if (html !== undefined && html.trim() !== "") {
    const shown = htmlToText(html.slice(0, MAX_HTML_CHARS));
    return { text: shown.text.slice(0, MAX_TEXT_CHARS), hiddenChars: shown.hiddenChars };
  }
  const lines = (text ?? "").slice(0, MAX_TEXT_CHARS).replace(/\r\n?/g, "\n");
  let end = lines.length;
  while (lines[end - 1] === "\n") end -= 1;
  return { text: lines.slice(0, end), hiddenChars: 0 };
}

/** Two fields `From`, or two authors in one, leave open who is meant: programs show one, and servers check another. */
function authorsOf(mail: PostalMail, postal: PostalMime): ParsedMail["from"] {
  const fields = mail.headers.filter(({ key }) => key === "from");
  const [only, ...others] = fields;
  if (!only || others.length > 0) return [];
  const authors = postal.addressParser(only.value.slice(0, MAX_FIELD_CHARS), { flatten: true });
  if (authors.length !== 1) return [];
  const address = toAddress(mail.from?.address ?? "");
  return address === undefined ? [] : [{ address, name: (mail.from?.name ?? "").slice(0, 200) }];
}

function fieldsOf({ headers }: PostalMail): ParsedMail["fields"] {
  const fields: ParsedMail["fields"] = {};
  for (const { key, value } of headers) {
    if (!keptFields.has(key)) continue;
    const values = fields[key] ?? [];
    fields[key] = values;
    // A field that was cut is told by its one character too many.
    if (values.length < MAX_FIELDS) values.push(value.slice(0, MAX_FIELD_CHARS + 1));
  }
  return fields;
}

/** Ids of a field, without angle brackets; blanks and commas end one. */
function idsOf(field: string | undefined): string[] {
  const ids = (field ?? "").slice(0, 64 * 1024).match(/[^\s<>,]{1,500}/g) ?? [];
  return ids.length <= MAX_REFERENCES ? ids : [ids[0] as string, ...ids.slice(1 - MAX_REFERENCES)];
}

/** Offset behind the empty line that ends the header; undefined when it does not come soon enough. */
function headerEnd(bytes: Buffer): number | undefined {
  const head = bytes.subarray(0, MAX_HEADER_BYTES + 4).toString("latin1");
  const end = /\r?\n\r?\n/.exec(head);
  if (end) return end.index + end[0].length;
  return bytes.length <= MAX_HEADER_BYTES ? bytes.length : undefined;
}

/** The header alone, whose fields after the limit are cut off at the last whole line. */
function header(bytes: Buffer, end = MAX_HEADER_BYTES): Uint8Array {
  const head = bytes.subarray(0, end);
  return head.subarray(0, head.lastIndexOf("\n") + 1);
}

/** Counts equal lines that begin with two dashes: between two parts stands such a line, and the mail names it as a boundary. */
function hasTooManyParts(bytes: Buffer): boolean {
  const counts = new Map<string, number>();
  for (let at = bytes.indexOf("\n--"); at >= 0; at = bytes.indexOf("\n--", at + 3)) {
    const end = bytes.indexOf("\n", at + 3);
    const line = bytes.subarray(at + 3, Math.min(end < 0 ? bytes.length : end, at + 3 + 80));
    const mark = line.toString("latin1").trimEnd();
    const count = (counts.get(mark) ?? 0) + 1;
    if (counts.size < MAX_MARKS || count > 1) counts.set(mark, count);
    if (count === MAX_PARTS + 1 && mark !== "" && (bytes.includes(`"${mark}`) || bytes.includes(`=${mark}`))) return true;
  }
  return false;
}
