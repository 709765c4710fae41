import type { RunRequest, SvcConfig } from "svc/sdk";
import { MAX_TOTAL_BYTES } from "../images.ts";
import type { PdfContent } from "../pdf/job.ts";
import { type PdfReader, PdfRefusal } from "../pdf/reader.ts";
import { NO_TEXT, writeBase64 } from "./files.ts";
import { framed } from "./framed.ts";
import { PublicRefusal } from "./refusals.ts";

/** A picture or a file as a run gets it: a framed text for the system prompt, attachments, or both. */
export interface ReadPart {
  text?: string;
  attachments: NonNullable<RunRequest["attachments"]>;
  /** Size of the attachments. */
  bytes: number;
}

export interface PdfOptions {
  files: Pick<SvcConfig["gateway"]["http"]["endpoints"]["responses"]["files"], "maxChars" | "pdf">;
  signal: AbortSignal;
  pdf: Pick<PdfReader, "read">;
  /** Whether the model that would answer reads PDF files by itself. */
  readsPdf(): Promise<boolean>;
}

const mimeType = "application/pdf";
const RENDERED = "[PDF content rendered to images]";

/**
 * A PDF as it is for a model that reads PDF files, else its text, or pictures of its pages.
 * @throws {PublicRefusal} with a reason for the caller; other errors with one for the log
 */
export async function readPdfPart(bytes: Buffer, name: string | undefined, options: PdfOptions): Promise<ReadPart> {
  if (bytes.length <= MAX_TOTAL_BYTES && (await options.readsPdf())) {
    const file = { type: "file" as const, mimeType, data: await writeBase64(bytes) };
    return { attachments: [{ ...file, ...(name === undefined ? {} : { fileName: name }) }], bytes: bytes.length };
  }
  const { text, chars, pictures, pages, leftOut } = await extract(bytes, options);
  const notes = [
    ...(pictures.length > 0 ? [RENDERED] : text === "" ? [NO_TEXT] : []),
    ...(leftOut > 0 ? [`[${leftOut} of ${pages} pages left out]`] : []),
  ];
  const attachments: ReadPart["attachments"] = [];
  let size = 0;
  for (const picture of pictures) {
    size += picture.byteLength;
    const data = await writeBase64(Buffer.from(picture.buffer, picture.byteOffset, picture.byteLength));
    attachments.push({ type: "image", mimeType: "image/jpeg", data });
  }
  return { text: await framed(text, { maxChars: options.files.maxChars, name, chars, notes }), attachments, bytes: size };
}

async function extract(bytes: Buffer, { pdf, files, signal }: PdfOptions): Promise<PdfContent> {
  const { maxPages, maxPixels, minTextChars } = files.pdf;
  try {
    return await pdf.read(bytes, { maxPages, maxPixels, minTextChars, maxChars: files.maxChars }, signal);
  } catch (error) {
    if (!(error instanceof PdfRefusal)) throw error;
    // A damaged file is an invalid request like any other; the rest can be helped.
    const { kind, message, detail } = error;
    if (kind === "damaged") throw new Error(`${message}: ${detail}`);
    throw new PublicRefusal(message, { detail, isMissingPackage: kind === "not-installed" || kind === "no-canvas" });
  }
}
