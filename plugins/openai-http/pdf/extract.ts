import type { PdfContent, PdfJob, PdfLimits } from "./job.ts";
import { type CanvasAndContext, type CanvasFactory, openPdf, type PdfPage } from "./library.ts";

/** Pages are drawn at up to 200 dots per inch; a unit of a PDF is 1/72 inch. */
const MAX_SCALE = 200 / 72;
/** Longest side of the picture of a page. */
const MAX_SIDE = 8_192;
const JPEG_QUALITY = 85;
/** Rows of a picture that are looked at in one step. */
const STRIP_ROWS = 64;
/** Operators of PDF.js that paint pictures: `paintImageMaskXObject` to `paintSolidColorImageMask`. */
const isPicture = (operator: number) => operator >= 83 && operator <= 90;

/** The PDF shows something that only a picture of it would tell, and pictures cannot be made. */
export class NoCanvas extends Error {}

/**
 * Text of the first pages, or pictures of them where there is too little of it.
 * @throws {NoCanvas} and errors of PDF.js
 */
export async function extractPdf(job: Pick<PdfJob, "library" | "canvas" | "bytes" | "limits">): Promise<PdfContent> {
  const { document, canvases } = await openPdf(job);
  const { limits } = job;
  const pages: PdfPage[] = [];
  const end = Math.min(document.numPages, limits.maxPages);
  let fault: unknown;
  for (let number = 1; number <= end; number++) {
    await document.getPage(number).then(
      (page) => pages.push(page),
      (error: unknown) => {
        fault = error;
      },
    );
  }
  if (pages.length === 0) throw fault ?? new Error("it has no pages");
  const text = await readText(pages, limits.maxChars);
  const content = { ...text, pages: document.numPages, leftOut: document.numPages - pages.length };
  if (text.chars >= limits.minTextChars) return { ...content, pictures: [] };
  if (canvases) return { ...content, pictures: await draw(pages, canvases, limits) };
  if (await showsPictures(pages)) throw new NoCanvas("its pages are pictures");
  return { ...content, pictures: [] };
}

async function readText(pages: readonly PdfPage[], maxChars: number): Promise<{ text: string; chars: number }> {
  let text = "";
  let chars = 0;
  const add = (piece: string) => {
    chars += piece.length;
    if (text.length < maxChars) text += piece.slice(0, maxChars - text.length);
  };
  for (const page of pages) {
    if (chars > 0) add("\n\n");
    const reader = page.streamTextContent().getReader();
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      for (const { str, hasEOL } of step.value.items) add(`${str ?? ""}${hasEOL ? "\n" : ""}`);
    }
  }
  return text.trim() === "" ? { text: "", chars: 0 } : { text, chars };
}

async function draw(pages: readonly PdfPage[], canvases: CanvasFactory, limits: PdfLimits): Promise<Uint8Array[]> {
  const pictures: Uint8Array[] = [];
  for (const page of pages) {
    const { width, height } = page.getViewport({ scale: 1 });
    const viewport = page.getViewport({ scale: scaleOf(width, height, limits.maxPixels) });
    const made = canvases.create(Math.max(1, Math.floor(viewport.width)), Math.max(1, Math.floor(viewport.height)));
    await page.render({ canvas: made.canvas, canvasContext: made.context, viewport, background: "white" }).promise;
    if (!isBlank(made)) pictures.push(made.canvas.toBuffer("image/jpeg", JPEG_QUALITY));
    canvases.destroy(made);
    page.cleanup();
  }
  return pictures;
}

/** Scale at which a page is as sharp as its limits allow. Pure. */
export function scaleOf(width: number, height: number, maxPixels: number): number {
  return Math.min(MAX_SCALE, MAX_SIDE / Math.max(width, height), Math.sqrt(maxPixels / (width * height)));
}

/** True when all of it has one colour. */
function isBlank({ canvas: { width, height }, context }: CanvasAndContext): boolean {
  let colour: number | undefined;
  for (let y = 0; y < height; y += STRIP_ROWS) {
    const { data } = context.getImageData(0, y, width, Math.min(STRIP_ROWS, height - y));
    const pixels = new Uint32Array(data.buffer, data.byteOffset, data.byteLength / 4);
    colour ??= pixels[0];
    if (pixels.some((pixel) => pixel !== colour)) return false;
  }
  return true;
}

async function showsPictures(pages: readonly PdfPage[]): Promise<boolean> {
  for (const page of pages) {
    const { fnArray } = await page.getOperatorList();
    if (fnArray.some(isPicture)) return true;
  }
  return false;
}
