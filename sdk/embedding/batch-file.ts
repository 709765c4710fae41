import { createHash, randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EmbeddingError } from "../define.ts";
import type { HttpRequestBody } from "../types/request.ts";

/** Lines are made in pieces of this size, one a turn of the event loop. */
const PIECE_BYTES = 256 * 1024;

/** A file of JSON lines that is made while it is sent: nothing but one piece of it is ever in memory. */
export interface BatchFile {
  bytes: number;
  /** sha256 of the file, hex. */
  digest: string;
  chunks(): AsyncGenerator<Buffer>;
}

/** Options for building a file. */
export interface BatchFileOptions {
  adapter: string;
  texts: readonly string[];
  line: (text: string, id: string) => unknown;
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

/** @throws {EmbeddingError} `too-long` over `maxBytes` */
export async function createBatchFile({ adapter, texts, line, maxBytes, signal }: BatchFileOptions): Promise<BatchFile> {
  async function* chunks() {
    let piece = "";
    for (const [i, text] of texts.entries()) {
      piece += `${JSON.stringify(line(text, String(i)))}\n`;
      if (piece.length < PIECE_BYTES) continue;
      yield Buffer.from(piece);
      piece = "";
      await nextTurn();
      signal?.throwIfAborted();
    }
    if (piece !== "") yield Buffer.from(piece);
  }
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunks()) {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new EmbeddingError(
        "too-long",
        `embedding adapter "${adapter}": a batch of over ${maxBytes} bytes; expected fewer texts at a time`,
      );
  }
  return { bytes, digest: hash.digest("hex"), chunks };
}

/** A form with one file (RFC 7578). */
export function formWithFile(
  fields: Readonly<Record<string, string>>,
  file: { field: string; name: string; type: string; bytes: number; chunks(): AsyncIterable<Uint8Array> },
): { body: HttpRequestBody; headers: { "content-type": string } } {
  const boundary = `svc-${randomBytes(16).toString("hex")}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="${file.field}"; filename="${file.name}"\r\ncontent-type: ${file.type}\r\n\r\n`;
  const start = Buffer.from(parts.join("") + head);
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* chunks() {
    yield start;
    yield* file.chunks();
    yield end;
  }
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: { bytes: start.length + file.bytes + end.length, chunks: chunks() },
  };
}
