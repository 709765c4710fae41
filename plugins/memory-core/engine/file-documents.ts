import type { IndexSettings } from "../index-settings.ts";
import type { DocumentContent, DocumentRow, DocumentSource, IndexDocument } from "./documents.ts";
import { type KnownTree, listChanged, listMemory } from "./listing.ts";
import { isMedia } from "./media.ts";
import { readForIndex } from "./read-file.ts";
import { readMedia } from "./read-media.ts";
import type { ListedFile, Listing } from "./walk.ts";

export type FileSourceSettings = Pick<IndexSettings, "workspace" | "extraPaths" | "multimodal">;

/** The agent's files as documents. */
export interface FileSource extends DocumentSource {
  /** These files only, by their absolute paths. Undefined when the whole has to be listed to know. */
  among(changed: readonly string[]): DocumentSource | undefined;
}

/** A file changed this shortly before it was read may have changed again unseen. */
const RACY_MS = 2_000;

/** `listed` is told what there is before anything of it is read. */
export function createFileSource(settings: FileSourceSettings, listed: (listing: Listing) => void = () => undefined): FileSource {
  const { workspace, extraPaths, multimodal } = settings;
  const roots = { workspace, extraPaths, modalities: multimodal.modalities };
  let last: KnownTree | undefined;
  return {
    source: "memory",
    async list(_known, pacer) {
      const listing = await listMemory(roots, pacer);
      last = { tree: listing.tree, count: listing.files.length };
      listed(listing);
      const documents = listing.files.map((file) => toDocument(file, multimodal));
      return { documents, isComplete: true, problems: listing.problems };
    },
    among(changed) {
      const found = last && listChanged(changed, last, roots);
      if (!found) return undefined;
      // Somebody has said that they changed: they are read, whatever time and size say.
      const documents = found.files.map((file) => ({ ...toDocument(file, multimodal), isUnchanged: () => false }));
      return { source: "memory", only: found.paths, list: async () => ({ documents, isComplete: true, problems: found.problems }) };
    },
  };
}

function toDocument(file: ListedFile, { modalities, maxFileBytes }: IndexSettings["multimodal"]): IndexDocument {
  const { path, absolute, real } = file;
  return {
    path,
    stamp: stampOf(file),
    isUnchanged: (row) => isTrusted(row, file),
    read: (during) =>
      during(() => (isMedia(path, modalities) ? readMedia(absolute, { path, real, maxBytes: maxFileBytes }) : readText(file))),
  };
}

/** Differs when a file has changed. */
export function stampOf({ mtimeMs, size }: Pick<ListedFile, "mtimeMs" | "size">): string {
  return `${mtimeMs} ${size}`;
}

function readText({ absolute, real }: ListedFile): DocumentContent {
  const content = readForIndex(absolute, real);
  return content.kind === "too-large" ? { kind: "skipped", code: "EFBIG" } : content;
}

/** Time and size may spare the read when the last read was clearly later than the last change. */
function isTrusted(row: DocumentRow, file: ListedFile): boolean {
  return row.mtime === file.mtimeMs && row.size === file.size && row.mtime + RACY_MS < row.checked_at;
}
