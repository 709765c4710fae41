import type { MemorySource } from "../index-settings.ts";
import type { Pacer } from "./pacer.ts";

/** A document as the index knows it. */
export interface DocumentRow {
  path: string;
  hash: string;
  mtime: number;
  size: number;
  checked_at: number;
}

/** Content read from a document. */
export type DocumentContent =
  /** `lineNumbers[i]` is shown as the number of line `i`; without it lines count from 1. */
  | { kind: "text"; text: string; hash: string; mtimeMs: number; size: number; lineNumbers?: readonly number[] }
  | { kind: "media"; media: MediaContent; hash: string; mtimeMs: number; size: number }
  /** Left out on purpose; `code` says why. */
  | { kind: "skipped"; code: string }
  | { kind: "gone" };

/** An image or a sound. The bytes are read again right before they are embedded. */
export interface MediaContent {
  /** Stands for the file in the index: `Image file: <path>`. */
  label: string;
  mime: string;
  /** Undefined when the file is not what it was. */
  bytes(): Uint8Array | undefined;
}

/** One thing that becomes rows: a file, a transcript. */
export interface IndexDocument {
  /** Identity within its source. */
  path: string;
  /** Differs when the document has changed; absent when that cannot be known without reading it. */
  stamp?: string;
  /** Spares the read when it certainly is what the row says. */
  isUnchanged(row: DocumentRow): boolean;
  /**
   * @param during runs the synchronous work on the content; the thread that watches this one learns which document it is
   * @throws system errors: this document is skipped, the sync goes on
   */
  read(during: <T>(work: () => T) => T): DocumentContent | Promise<DocumentContent>;
  /** Called once its rows are committed or known to be right, or it is left out for good. */
  settled?(): void;
}

/** Source of documents. A source that a sync does not touch is simply not among its sources. */
export interface DocumentSource {
  source: MemorySource;
  /** Ids its documents are among: `known` holds no other rows, and no other row is touched. */
  only?: readonly string[];
  list(known: ReadonlyMap<string, DocumentRow>, pacer: Pacer): Promise<ListedDocuments>;
}

export interface ListedDocuments {
  documents: IndexDocument[];
  /** Rows of `known` that are not listed go. */
  isComplete: boolean;
  /** Paths that could not be read. */
  problems: Array<{ path: string; code: string }>;
}
