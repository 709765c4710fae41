import { randomUUID } from "node:crypto";
import type { HttpRequestBody } from "svc/sdk";
import { type Base64Later, base64Length } from "./requests.ts";

/** Bytes that are written at once; a multiple of 3, so that the pieces' base64 joins to that of the whole. */
const SLICE_BYTES = 768 * 1024;

/**
 * A JSON body with bytes in it, each as a base64 text. Such texts are made while the body is sent: the whole at once would hold the event loop for as long
 * as an image is large.
 */
export function jsonBody(value: unknown): HttpRequestBody {
  const media: Uint8Array[] = [];
  const mark = `media:${randomUUID()}`;
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (!isLater(part)) return part;
    media.push(part.bytes);
    return mark;
  });
  if (media.length === 0) return text;
  const frame = text.split(`"${mark}"`);
  const bytes =
    frame.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0) +
    media.reduce((sum, data) => sum + base64Length(data.byteLength) + 2, 0);
  return { bytes, chunks: pieces(frame, media) };
}

function isLater(part: unknown): part is Base64Later {
  return typeof part === "object" && part !== null && (part as Base64Later).bytes instanceof Uint8Array;
}

async function* pieces(frame: readonly string[], media: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const [i, piece] of frame.entries()) {
    const data = media[i];
    yield Buffer.from(data ? `${piece}"` : piece);
    if (!data) continue;
    for (let at = 0; at < data.byteLength; at += SLICE_BYTES) {
      const slice = data.subarray(at, at + SLICE_BYTES);
      yield Buffer.from(Buffer.from(slice.buffer, slice.byteOffset, slice.byteLength).toString("base64"), "latin1");
    }
    yield Buffer.from('"');
  }
}
