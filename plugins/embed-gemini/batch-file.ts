import { randomUUID } from "node:crypto";
import { type BatchFile, createBatchFile, type HttpRequestBody } from "svc/sdk";
import type { ModelChoice } from "./model-choice.ts";
import { toContent } from "./requests.ts";

/** The vendor keeps files of up to 2 GB; ours end before memory does. */
const MAX_FILE_BYTES = 1_000_000_000;

/** The requests of a job, one JSON line each. @throws {EmbeddingError} `too-long` */
export function batchFile(
  texts: readonly string[],
  { adapter, choice, signal }: { adapter: string; choice: ModelChoice; signal: AbortSignal | undefined },
): Promise<BatchFile> {
  const line = (text: string, key: string) => ({ key, request: toContent([{ type: "text", text }], "document", choice) });
  return createBatchFile({ adapter, texts, line, maxBytes: MAX_FILE_BYTES, signal });
}

/** A file as the vendor takes it: its description, then its content (RFC 2387). */
export function uploadOf(file: BatchFile, displayName: string): { body: HttpRequestBody; headers: Record<string, string> } {
  const boundary = `svc-${randomUUID()}`;
  const description = JSON.stringify({ file: { displayName, mimeType: "application/jsonl" } });
  const part = (type: string) => `--${boundary}\r\nContent-Type: ${type}\r\n\r\n`;
  const head = Buffer.from(`${part("application/json; charset=UTF-8")}${description}\r\n${part("application/jsonl")}`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* chunks() {
    yield head;
    yield* file.chunks();
    yield tail;
  }
  return {
    headers: { "content-type": `multipart/related; boundary=${boundary}`, "x-goog-upload-protocol": "multipart" },
    body: { bytes: head.byteLength + file.bytes + tail.byteLength, chunks: chunks() },
  };
}
