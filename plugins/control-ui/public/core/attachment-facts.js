import { texts } from "../texts/chat-more.js";
import { decimal, plural } from "./format.js";

/**
 * Which files a message may take along, by the types and sizes that the gateway names. Pure.
 *
 * @typedef {import("./turns.js").Part} Part
 * @typedef {{ name: string, type: string, size: number }} Picked a file as the browser tells of it
 * @typedef {{ maxBytes: number, maxImageBytes: number, maxFrame: number }} Limits
 * @typedef {{ part: Part & { size: number } } | { problem: string }} Judged
 */

const MAX_FILES = 8;
/** Room in a frame for all that is no file. */
const FRAME_REST = 65_536;

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const recordings = ["audio/mpeg", "audio/wav", "audio/mp4", "audio/ogg", "audio/webm", "audio/flac", "audio/aac"];
const textType = /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-sh|sql))$/;

/** Other names of types. @type {Readonly<Record<string, string>>} */
const aliases = {
  "audio/mp3": "audio/mpeg",
  "audio/wave": "audio/wav",
  "audio/x-wav": "audio/wav",
  "audio/m4a": "audio/mp4",
  "audio/x-m4a": "audio/mp4",
  "video/webm": "audio/webm",
};

/** Types of files that browsers do not know, by the end of their names. @type {Readonly<Record<string, string>>} */
const byEnding = {
  ...Object.fromEntries(
    "txt md markdown log csv tsv ini conf env ts tsx jsx py rb go rs java c h cpp sh sql yaml yml toml diff patch"
      .split(" ")
      .map((end) => [end, "text/plain"]),
  ),
  json: "application/json",
  xml: "application/xml",
  m4a: "audio/mp4",
  opus: "audio/ogg",
  flac: "audio/flac",
};

/** Filter of the file chooser. @param {boolean} takesAudio */
export function acceptOf(takesAudio) {
  const endings = Object.keys(byEnding).map((end) => `.${end}`);
  return [...pictures, "application/pdf", "text/*", ...(takesAudio ? recordings : []), ...endings].join(",");
}

/** Type of a file by the name that the gateway has for it. @param {Picked} file */
export function typeOf({ name, type }) {
  const bare = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const known = aliases[bare] ?? bare;
  if (isTaken(known)) return known;
  return byEnding[name.toLowerCase().split(".").at(-1) ?? ""] ?? known;
}

/** @param {string} type */
function isTaken(type) {
  return pictures.includes(type) || recordings.includes(type) || type === "application/pdf" || textType.test(type);
}

/**
 * A file as a part of a message, or why it cannot be one.
 * @param {Picked} file
 * @param {{ limits: Limits, taken: ReadonlyArray<Part & { size: number }>, input?: readonly string[] | undefined }} situation `input`: what the model reads, when that is known
 * @returns {Judged}
 */
export function judge(file, { limits, taken, input }) {
  const type = typeOf(file);
  const kind = pictures.includes(type) ? "image" : textType.test(type) ? "text" : "file";
  const no = (/** @type {string} */ why) => ({ problem: `${file.name} ${why}` });
  if (!isTaken(type)) return no(texts.picturesPdfDocuments(type === "" ? texts.unknownType : type));
  if (recordings.includes(type) && input && !input.includes("audio")) return no(texts.recordingModelConversation);
  if (file.size === 0) return no(texts.empty);
  if (taken.length >= MAX_FILES) return no(texts.oneTooMany(MAX_FILES));
  const most = kind === "image" ? limits.maxImageBytes : limits.maxBytes;
  if (file.size > most)
    return no(texts.mayHave({ file: sizeWords(file.size), what: kind === "image" ? texts.picture : texts.file, most: sizeWords(most) }));
  const others = taken.filter((one) => one.kind === "file").reduce((sum, { size }) => sum + size, 0);
  if (kind === "file" && others + file.size > limits.maxBytes) return no(texts.tooMuchDocuments(sizeWords(limits.maxBytes)));
  const bytes = [...taken, file].reduce((sum, { size }) => sum + Math.ceil(size / 3) * 4, 0);
  if (bytes > limits.maxFrame - FRAME_REST) return no(texts.tooMuchFiles(sizeWords(((limits.maxFrame - FRAME_REST) * 3) / 4)));
  return { part: { kind, name: file.name, type, size: file.size } };
}

/** Says what a model will not see of the files; undefined when it reads them all. @param {readonly Part[]} parts @param {readonly string[] | undefined} input */
export function blindWords(parts, input) {
  if (!input) return undefined;
  const words = [
    !input.includes("image") && parts.some(({ kind }) => kind === "image") && texts.pictures,
    !input.includes("pdf") && parts.some(({ type }) => type === "application/pdf") && texts.pdfDocuments,
  ].filter(Boolean);
  return words.length === 0 ? undefined : words.length === 2 ? texts.readsNeither : texts.modelConversationReads(String(words[0]));
}

/** "6 MiB", "340 KiB", "12 bytes". @param {number} bytes */
export function sizeWords(bytes) {
  if (bytes < 1_024) return plural(bytes, texts.bytes);
  if (bytes < 1_048_576) return texts.kib(Math.round(bytes / 1_024));
  return texts.mib(decimal(bytes / 1_048_576, 1));
}
