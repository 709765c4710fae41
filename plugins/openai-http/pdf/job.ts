/** Bounds of what is taken from one PDF. */
export interface PdfLimits {
  /** Pages read; the others are left out. */
  maxPages: number;
  /** Pixels of the picture of one page. */
  maxPixels: number;
  /** A PDF with less text is drawn. */
  minTextChars: number;
  /** Longest text that is kept. */
  maxChars: number;
}

/** Work of one thread. */
export interface PdfJob {
  /** `file:` URL of the entry of pdfjs-dist. */
  library: string;
  /** `file:` URL of the entry of @napi-rs/canvas; undefined: it is not installed. */
  canvas: string | undefined;
  bytes: Uint8Array;
  limits: PdfLimits;
  /** Memory outside of the heap: decoded streams and pictures. */
  maxMemoryBytes: number;
}

/** Content of a PDF, as far as it was read. */
export interface PdfContent {
  /** At most `maxChars`; empty when there is none. */
  text: string;
  /** Length of the whole text of the pages that were read. */
  chars: number;
  /** Pages of the file, and those of them that were neither read nor drawn, or could not be. */
  pages: number;
  leftOut: number;
  /** Pages drawn as JPEG, where there is too little text; blank ones are left out. */
  pictures: Uint8Array[];
}

/** Why a PDF could not be read; `detail` is for the log. */
export type PdfFailure = { kind: "encrypted" | "damaged" | "too-large" | "no-canvas"; detail: string };

/** The one message that a thread sends. */
export type PdfAnswer = { content: PdfContent } | { failure: PdfFailure };
