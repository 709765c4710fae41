import { setImmediate as nextTurn } from "node:timers/promises";

/** A file as it came: its bytes, the type that its sender named, and its name. */
export interface GivenFile {
  bytes: Buffer;
  mime: string | undefined;
  name: string | undefined;
}

/** Types of files that come without one, by the end of their name. */
const typeOfExtension: Readonly<Record<string, string>> = {
  txt: "text/plain",
  text: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  markdown: "text/markdown",
  html: "text/html",
  htm: "text/html",
  csv: "text/csv",
  json: "application/json",
  pdf: "application/pdf",
};
const vague = new Set(["application/octet-stream", "binary/octet-stream"]);

const pdfType = "application/pdf";

/** Stands for a file with nothing to read in it. */
export const NO_TEXT = "[No extractable text]";

/**
 * The text of a file whose type is allowed; a PDF is told by its bytes, or by its type or name, and is read elsewhere. Pure.
 * @throws {Error} with the reason of a refusal
 */
export function textOfFile({ bytes, mime, name }: GivenFile, allowed: readonly string[]): { text: string } | "pdf" {
  const isPdf = bytes.subarray(0, 5).toString("latin1") === "%PDF-";
  const named = mime === undefined || vague.has(mime) ? typeOfName(name) : mime;
  const type = isPdf ? pdfType : (named ?? "text/plain");
  if (!allowed.includes(type)) throw new Error(`type ${type} is not allowed`);
  if (type === pdfType) return "pdf";
  if (bytes.includes(0)) throw new Error("the file is not text");
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return { text: text.trim() === "" ? NO_TEXT : text };
}

function typeOfName(name: string | undefined): string | undefined {
  const extension = /\.([a-z0-9]{1,16})$/i.exec(name ?? "")?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(typeOfExtension, extension) ? typeOfExtension[extension] : undefined;
}

/** Bytes written in one step; a multiple of three. */
const SLICE_BYTES = 750_000;

/** Bytes as base64 text. */
export async function writeBase64(bytes: Buffer): Promise<string> {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    if (at > 0) await nextTurn();
    parts.push(bytes.subarray(at, at + SLICE_BYTES).toString("base64"));
  }
  return parts.join("");
}

/** Characters read in one step; a multiple of four. */
const SLICE_CHARS = 1_000_000;

/**
 * The bytes of base64 text; its length decides before any of it is read.
 * @throws {Error} with the reason of a refusal
 */
export async function readBase64(text: string, maxBytes: number): Promise<Buffer> {
  const body = text.replace(/={1,2}$/, "");
  if (body.length === 0 || body.length % 4 === 1) throw new Error("not valid base64");
  if (Math.floor((body.length * 3) / 4) > maxBytes) throw new Error(`the file is larger than ${maxBytes} bytes`);
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += SLICE_CHARS) {
    if (at > 0) await nextTurn();
    const slice = body.slice(at, at + SLICE_CHARS);
    if (!/^[A-Za-z0-9+/]*$/.test(slice)) throw new Error("not valid base64");
    parts.push(Buffer.from(slice, "base64"));
  }
  return Buffer.concat(parts);
}
