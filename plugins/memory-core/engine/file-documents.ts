import type { IndexSettings } from "../index-settings.ts";
import type { DocumentContent, DocumentRow, DocumentSource, IndexDocument } from "./documents.ts";
import { type ListedFile, type Listing, listMemory } from "./listing.ts";
import { isMedia } from "./media.ts";
import { readForIndex } from "./read-file.ts";
import { readMedia } from "./read-media.ts";

export type FileSourceSettings = Pick<IndexSettings, "workspace" | "extraPaths" | "multimodal">;

/** A file changed this shortly before it was read may have changed again unseen. */
const RACY_MS = 2_000;

/** The agent's files as documents. `listed` is told what there is before anything of it is read. */
export function createFileSource(settings: FileSourceSettings, listed: (listing: Listing) => void = () => undefined): DocumentSource {
  const { workspace, extraPaths, multimodal } = settings;
  return {
    source: "memory",
    async list(_known, pacer) {
      const listing = await listMemory({ workspace, extraPaths, modalities: multimodal.modalities }, pacer);
      listed(listing);
      const documents = listing.files.map((file) => toDocument(file, multimodal));
      return { documents, isComplete: true, problems: listing.problems };
    },
  };
}

function toDocument(file: ListedFile, { modalities, maxFileBytes }: IndexSettings["multimodal"]): IndexDocument {
  const { path, absolute, real } = file;
  return {
    path,
    isUnchanged: (row) => isTrusted(row, file),
    read: () => (isMedia(path, modalities) ? readMedia(absolute, { path, real, maxBytes: maxFileBytes }) : readText(file)),
  };
}

function readText({ absolute, real }: ListedFile): DocumentContent {
  const content = readForIndex(absolute, real);
  return content.kind === "too-large" ? { kind: "skipped", code: "EFBIG" } : content;
}

/** Time and size may spare the read when the last read was clearly later than the last change. */
function isTrusted(row: DocumentRow, file: ListedFile): boolean {
  return row.mtime === file.mtimeMs && row.size === file.size && row.mtime + RACY_MS < row.checked_at;
}
