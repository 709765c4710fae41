import { readFile } from "node:fs/promises";
import type { PdfJob } from "./job.ts";

/** The parts of pdfjs-dist that are used. */
interface PdfLibrary {
  getDocument(options: object): { promise: Promise<PdfDocument>; destroy(): Promise<void> };
}

export interface PdfDocument {
  numPages: number;
  getPage(number: number): Promise<PdfPage>;
}

export interface PdfPage {
  streamTextContent(): ReadableStream<{ items: Array<{ str?: string; hasEOL?: boolean }> }>;
  getViewport(options: { scale: number }): { width: number; height: number };
  render(options: { canvas: PdfCanvas; canvasContext: PdfContext; viewport: object; background: string }): { promise: Promise<void> };
  getOperatorList(): Promise<{ fnArray: number[] }>;
  cleanup(): boolean;
}

interface PdfContext {
  getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray };
}

interface PdfCanvas {
  width: number;
  height: number;
  getContext(kind: "2d", options: object): PdfContext;
  toBuffer(type: "image/jpeg", quality: number): Uint8Array;
}

interface CanvasLibrary {
  createCanvas(width: number, height: number): PdfCanvas;
}

/** A canvas as PDF.js hands it around; it is emptied when it is destroyed. */
export interface CanvasAndContext {
  canvas: PdfCanvas;
  context: PdfContext;
}

/** Makes canvases for pages and for what they are composed of. */
export interface CanvasFactory {
  create(width: number, height: number): CanvasAndContext;
  reset(made: CanvasAndContext, width: number, height: number): void;
  destroy(made: CanvasAndContext): void;
}

export interface OpenPdf {
  document: PdfDocument;
  /** Undefined: nothing can be drawn. */
  canvases: CanvasFactory | undefined;
}

/** Kinds of data that come with PDF.js, and their folders in its package. */
const dataFolders: Readonly<Record<string, string>> = { cMapUrl: "cmaps/", standardFontDataUrl: "standard_fonts/", wasmUrl: "wasm/" };
/** Pictures with more pixels are not decoded. */
const MAX_IMAGE_PIXELS = 50_000_000;
/** Canvases that are in use at the same time, in pages of the largest size. */
const MAX_CANVASES = 8;

/**
 * Opens a PDF. Nothing of it is evaluated, and nothing is fetched: character maps, fonts and decoders are files of the package.
 * @throws {Error} as PDF.js does: `PasswordException`, `InvalidPDFException` and others
 */
export async function openPdf({
  library,
  canvas,
  bytes,
  limits,
}: Pick<PdfJob, "library" | "canvas" | "bytes" | "limits">): Promise<OpenPdf> {
  const root = new URL("../", library);
  // Where the package has no binary for this system, its import fails.
  const drawing = canvas === undefined ? undefined : ((await import(canvas).catch(() => undefined)) as CanvasLibrary | undefined);
  if (!drawing) defineStandIns();
  // PDF.js looks there for the module of its own worker: it shares this thread, which is one already.
  Object.assign(globalThis, { pdfjsWorker: await import(new URL("legacy/build/pdf.worker.mjs", root).href) });
  const { getDocument } = (await import(new URL("legacy/build/pdf.mjs", root).href)) as PdfLibrary;
  const canvases = drawing && canvasFactory(drawing, limits.maxPixels * MAX_CANVASES);
  const document = await getDocument({
    data: bytes,
    isEvalSupported: false,
    enableXfa: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    maxImageSize: MAX_IMAGE_PIXELS,
    verbosity: 0,
    ...Object.fromEntries(Object.entries(dataFolders).map(([kind, folder]) => [kind, new URL(folder, root).href])),
    BinaryDataFactory: class {
      fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
        return readData(root, kind, filename);
      }
    },
    ...(canvases ? { CanvasFactory: classOf(canvases) } : {}),
  }).promise;
  return { document, canvases };
}

/** PDF.js makes its factories itself. */
function classOf(canvases: CanvasFactory): new () => CanvasFactory {
  return class {
    create = canvases.create;
    reset = canvases.reset;
    destroy = canvases.destroy;
  };
}

async function readData(root: URL, kind: string, name: string): Promise<Uint8Array> {
  const folder = dataFolders[kind];
  if (folder === undefined || !/^[\w-]+\.\w+$/.test(name)) throw new Error(`no file of PDF.js: ${kind}`);
  return new Uint8Array(await readFile(new URL(`${folder}${name}`, root)));
}

/** Classes that PDF.js names when it is imported and uses when it draws. */
function defineStandIns(): void {
  for (const name of ["DOMMatrix", "Path2D", "ImageData"]) {
    if (!Object.hasOwn(globalThis, name)) Object.defineProperty(globalThis, name, { value: class {}, configurable: true, writable: true });
  }
}

function canvasFactory({ createCanvas }: CanvasLibrary, maxPixels: number): CanvasFactory {
  let pixels = 0;
  const resize = (before: number, width: number, height: number) => {
    if (!(width > 0 && height > 0)) throw new Error("a canvas without a size");
    if (pixels - before + width * height > maxPixels) throw new RangeError("the canvases of a page are too large");
    pixels += width * height - before;
  };
  return {
    create(width, height) {
      const [w, h] = [Math.ceil(width), Math.ceil(height)];
      resize(0, w, h);
      const canvas = createCanvas(w, h);
      return { canvas, context: canvas.getContext("2d", { willReadFrequently: true }) };
    },
    reset({ canvas }, width, height) {
      const [w, h] = [Math.ceil(width), Math.ceil(height)];
      resize(canvas.width * canvas.height, w, h);
      canvas.width = w;
      canvas.height = h;
    },
    destroy(made) {
      pixels -= made.canvas.width * made.canvas.height;
      made.canvas.width = 0;
      made.canvas.height = 0;
      Object.assign(made, { canvas: null, context: null });
    },
  };
}
