import { join, resolve } from "node:path";
import { commonErrors, isSvcError, type MemoryBackendText } from "svc/sdk";
import { isInside, openContained, partsBelow } from "svc/sdk/internal";
import type { Collection } from "./collections.ts";
import { sidecarErrors } from "./errors.ts";
import { SIDECAR_ROOT } from "./locate.ts";

/** Places that notes are read from. */
export interface NotePlaces {
  workspace: string;
  collections: readonly Collection[];
}

/** Files of the workspace that may be read besides `memory/` and the collections. */
const readableNames = new Set(["MEMORY.md", "memory.md", "DREAMS.md", "dreams.md"]);
const MAX_PATH_CHARS = 4_096;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Maximum length of the text that is returned. */
const MAX_TEXT_BYTES = 64 * 1024;

/**
 * Reads a note, or lines of it, by the path of a hit; never through a link, never anything outside of its folder. Exported transcripts are no notes.
 * @throws {SvcError} `memory-note-missing`, `sidecar-path-refused`
 */
export async function readNote(
  places: NotePlaces,
  path: string,
  { from = 1, lines }: { from?: number; lines?: number },
): Promise<MemoryBackendText> {
  const place = placeOfNote(places, path);
  if (!place) throw sidecarErrors.sidecarPathRefused({ path });
  const text = await readText(place, path);
  const all = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const wanted = all.slice(from - 1, lines === undefined ? undefined : from - 1 + lines).join("\n");
  const shown = cutBytes(wanted);
  return { path, text: shown, from, totalLines: all.length, ...(shown === wanted ? {} : { truncated: true }) };
}

interface NotePlace {
  root: string;
  parts: string[];
}

/** Folder and way of a note; undefined for a path that is none. Pure. */
export function placeOfNote({ workspace, collections }: NotePlaces, path: string): NotePlace | undefined {
  if (path === "" || path.length > MAX_PATH_CHARS || !/\.md$/i.test(path)) return undefined;
  const [first, name, ...rest] = path.split("/");
  const collection = first === SIDECAR_ROOT ? collections.find((one) => one.name === name) : undefined;
  if (collection) return collection.source === "sessions" ? undefined : below(collection.root, rest.join("/"));
  const absolute = resolve(workspace, path);
  const root = rootOf({ workspace, collections }, absolute);
  return root === undefined ? undefined : below(root, absolute);
}

function rootOf({ workspace, collections }: NotePlaces, absolute: string): string | undefined {
  if (isInside(join(workspace, "memory"), absolute)) return workspace;
  if ([...readableNames].some((name) => absolute === join(workspace, name))) return workspace;
  const collection = collections.find(
    ({ root, pattern, source }) =>
      source === "memory" && isInside(root, absolute) && (pattern.includes("*") || absolute === join(root, pattern)),
  );
  return collection?.root;
}

function below(root: string, path: string): NotePlace | undefined {
  try {
    const parts = partsBelow(root, path);
    return parts.length === 0 ? undefined : { root, parts };
  } catch {
    return undefined; // leads out of it
  }
}

async function readText({ root, parts }: NotePlace, path: string): Promise<string> {
  try {
    const file = await openContained(root, parts, { maxBytes: MAX_FILE_BYTES });
    try {
      return (await file.readFile()).toString("utf8").replace(/^\uFEFF/, "");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (causeCode(error) === "ENOENT") throw commonErrors.memoryNoteMissing({ path });
    if (isSvcError(error, "unsafe-file")) throw sidecarErrors.sidecarPathRefused({ path }, { cause: error });
    throw error;
  }
}

function causeCode(error: unknown): string | undefined {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return (cause as NodeJS.ErrnoException).code;
}

/** The longest beginning of a bounded number of bytes that ends between two characters. */
function cutBytes(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= MAX_TEXT_BYTES) return text;
  let end = MAX_TEXT_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
