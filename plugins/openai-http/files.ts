import { isSvcError, type MessageBlock, messageOf, type RunRequest } from "svc/sdk";
import type { AudioPart } from "./content.ts";
import { badRequest } from "./errors.ts";
import { MAX_TOTAL_BYTES } from "./images.ts";
import type { Turn } from "./prompt.ts";
import type { MediaPart } from "./responses/content.ts";
import { readBase64 } from "./responses/files.ts";
import { MAX_FILES, type MediaOptions, readFilePart } from "./responses/media.ts";
import type { ReadPart } from "./responses/pdf-part.ts";
import { PublicRefusal, toRefusal } from "./responses/refusals.ts";

/** Files and recordings as a run gets them. */
export interface ReadMedia {
  /** Framed texts of files, for the system prompt. */
  texts: string[];
  attachments: NonNullable<RunRequest["attachments"]>;
}

const invalidFile = "Invalid file content in `messages`.";
/** Read as a note. A text would be part of what the user said, by which turns of a session are told from new ones. */
const leftOut: MessageBlock = { type: "file", mimeType: "application/octet-stream", data: "" };
/** Recordings in one request. */
const MAX_RECORDINGS = 20;

/**
 * Reads the files of the current turn, and those that the client sent again with earlier ones: the newest, and what cannot be read of them is a note. Pictures
 * of earlier PDF files enter the turns that they belong to.
 * @throws {SvcError} `v1-bad-request`; `busy` when too many PDF files wait
 */
export async function readFiles(turn: Pick<Turn, "files" | "earlierFiles">, options: Omit<MediaOptions, "fetch">): Promise<ReadMedia> {
  const read: ReadMedia = { texts: [], attachments: [] };
  let path = "messages";
  let left = MAX_TOTAL_BYTES;
  try {
    if (turn.files.length > MAX_FILES) throw new Error(`${turn.files.length} files; at most ${MAX_FILES}`);
    for (const part of turn.files) {
      path = part.path;
      const { text, attachments, bytes } = await readFilePart(part, options);
      left -= bytes;
      if (left < 0) throw new Error(`the files are larger than ${MAX_TOTAL_BYTES} bytes together`);
      read.attachments.push(...attachments);
      if (text !== undefined) read.texts.push(text);
    }
  } catch (error) {
    throw toRefusal(error, { path, invalid: invalidFile, refused: options.refused });
  }
  const earlier = await readEarlier(turn, options, left);
  return { ...read, texts: [...earlier, ...read.texts] };
}

/** @throws {SvcError} `busy` when too many PDF files wait */
async function readEarlier(
  { files, earlierFiles }: Pick<Turn, "files" | "earlierFiles">,
  options: Omit<MediaOptions, "fetch">,
  maxBytes: number,
): Promise<string[]> {
  const texts: string[] = [];
  let [count, left] = [MAX_FILES - files.length, maxBytes];
  for (const { turn, part } of earlierFiles.toReversed()) {
    count -= 1;
    const found =
      count < 0
        ? undefined
        : await readEarlierPart(part, options).catch((error: unknown) => {
            options.signal.throwIfAborted();
            if (isSvcError(error, "busy")) throw error;
            options.refused(`${part.path}: ${messageOf(error)}`);
            return undefined;
          });
    if (!found || found.bytes > left) {
      turn.content.push(leftOut);
      continue;
    }
    left -= found.bytes;
    if (found.text !== undefined) texts.unshift(found.text);
    for (const attachment of found.attachments) if (attachment.type !== "text") turn.content.push(attachment);
  }
  return texts;
}

/** The model has forgotten what it read by itself, so that earlier PDF files are taken apart; where that takes packages that are missing, it reads the file again. */
function readEarlierPart(part: MediaPart, options: Omit<MediaOptions, "fetch">): Promise<ReadPart> {
  return readFilePart(part, { ...options, readsPdf: async () => false }).catch(async (error: unknown) => {
    if (error instanceof PublicRefusal && error.isMissingPackage && (await options.readsPdf())) return readFilePart(part, options);
    throw error;
  });
}

/**
 * Recordings of the current turn, for a model that hears them.
 * @throws {SvcError} `v1-bad-request`
 */
export async function readAudio(parts: readonly AudioPart[], readsAudio: () => Promise<boolean>): Promise<ReadMedia["attachments"]> {
  if (parts.length > MAX_RECORDINGS) throw badRequest(`messages: ${parts.length} recordings; at most ${MAX_RECORDINGS}`);
  const attachments: ReadMedia["attachments"] = [];
  let left = MAX_TOTAL_BYTES;
  for (const { path, mimeType, data } of parts) {
    if (!(await readsAudio()))
      throw badRequest(`${path}: the model does not take audio, as far as is known; send a transcript as a text part`);
    const bytes = await readBase64(data, left).catch((error: unknown) => {
      throw badRequest(`${path}.data: ${messageOf(error)}`);
    });
    left -= bytes.length;
    attachments.push({ type: "file", mimeType, data });
  }
  return attachments;
}
