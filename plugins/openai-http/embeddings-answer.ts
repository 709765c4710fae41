import { setImmediate as nextTurn } from "node:timers/promises";
import type { MemoryEmbedding } from "svc/sdk";

/** Writing numbers as text is work: 128 vectors of 3072 numbers are 8 MB. After this long the others get their turn. */
const SLICE_MS = 5;
/** A shorter answer stays one text, which is the cheapest to send. */
const MAX_TEXT_CHARS = 64 * 1024;

/**
 * The body of an answer, in the order of the vectors. Written in slices, so that a large one does not hold the gateway up.
 * @param signal ends the work between two slices, by its reason
 */
export async function embeddingsJson(
  { vectors, tokens }: Pick<MemoryEmbedding, "vectors" | "tokens">,
  { model, encoding, signal }: { model: string; encoding: "float" | "base64"; signal?: AbortSignal },
): Promise<string | Uint8Array> {
  const write = encoding === "base64" ? toBase64 : toNumbers;
  const parts: Buffer[] = [];
  let text = '{"object":"list","data":[';
  let since = performance.now();
  for (const [index, vector] of vectors.entries()) {
    text += `${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":${write(vector)}}`;
    if (text.length > MAX_TEXT_CHARS) {
      parts.push(Buffer.from(text, "latin1"));
      text = "";
    }
    if (performance.now() - since < SLICE_MS) continue;
    await nextTurn();
    signal?.throwIfAborted();
    since = performance.now();
  }
  text += `],"model":${JSON.stringify(model)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
  return parts.length === 0 ? text : Buffer.concat([...parts, Buffer.from(text)]);
}

function toNumbers(vector: Float32Array): string {
  return JSON.stringify(Array.from(vector));
}

/** Little-endian float32: the order of bytes in memory on every platform Node runs on but s390x, for which nothing is built. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return `"${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}"`;
}
