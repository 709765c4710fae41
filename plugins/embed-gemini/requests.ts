import type { StructuredInput } from "svc/sdk";
import type { ModelChoice } from "./model-choice.ts";
import { taskOf } from "./models.ts";

/** Bytes that become base64 on their way out (`request-body.ts`); in a shape of their own, as a `Buffer` would write itself number by number. */
export interface Base64Later {
  bytes: Uint8Array;
}

export type Part = { text: string } | { inlineData: { mimeType: string; data: Base64Later } };

/** One text, or text with media, as the vendor takes it. */
export interface EmbedContent {
  content: { parts: Part[] };
  taskType?: string;
  outputDimensionality?: number;
}

/** The same within a call for many. */
export type BatchedContent = { model: string } & EmbedContent;

/** Maximum number of items in one call (*unconfirmed* by the vendor's documents, as its servers answer). */
export const MAX_ITEMS = 100;
const MAX_IMAGES = 6;
/** Whole request, base64 included. */
const MAX_REQUEST_BYTES = 20_000_000;
/** Size of a part besides its text or data: names, quotes, brackets. */
const PART_OVERHEAD_BYTES = 256;

/** Body for one input. Pure. */
export function toContent(input: StructuredInput, side: "query" | "document", { task, sentDims }: ModelChoice): EmbedContent {
  const { taskType, prefix } = taskOf(task, side);
  const parts = input.map(
    (part): Part => (part.type === "text" ? { text: part.text } : { inlineData: { mimeType: part.mime, data: { bytes: part.data } } }),
  );
  const [first] = parts;
  if (prefix !== "" && first && "text" in first) parts[0] = { text: prefix + first.text };
  return {
    content: { parts },
    ...(taskType === undefined ? {} : { taskType }),
    ...(sentDims === undefined ? {} : { outputDimensionality: sentDims }),
  };
}

/** Cuts a list into calls within the limits of items, images and bytes, in order. One that is too large by itself is a call of its own. Pure. */
export function groupContents(contents: readonly EmbedContent[]): EmbedContent[][] {
  const groups: EmbedContent[][] = [];
  let room = { items: 0, images: 0, bytes: 0 };
  for (const content of contents) {
    const size = sizeOf(content);
    const fits = room.items >= 1 && room.images >= size.images && room.bytes >= size.bytes;
    if (!fits) {
      groups.push([]);
      room = { items: MAX_ITEMS, images: MAX_IMAGES, bytes: MAX_REQUEST_BYTES };
    }
    groups.at(-1)?.push(content);
    room = { items: room.items - 1, images: room.images - size.images, bytes: room.bytes - size.bytes };
  }
  return groups;
}

/** Does one input exceed what any request may be? Pure. */
export function isOversized(content: EmbedContent): boolean {
  const { images, bytes } = sizeOf(content);
  return images > MAX_IMAGES || bytes > MAX_REQUEST_BYTES;
}

function sizeOf({ content }: EmbedContent): { images: number; bytes: number } {
  let [images, bytes] = [0, PART_OVERHEAD_BYTES];
  for (const part of content.parts) {
    bytes += PART_OVERHEAD_BYTES;
    if ("text" in part) bytes += Buffer.byteLength(part.text);
    else {
      bytes += base64Length(part.inlineData.data.bytes.byteLength);
      if (part.inlineData.mimeType.startsWith("image/")) images += 1;
    }
  }
  return { images, bytes };
}

export function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}
