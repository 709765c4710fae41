import {
  checkedVectors,
  type EmbeddingBatchResult,
  EmbeddingError,
  isRecord,
  jsonLines,
  messageOf,
  readVector,
  scrubVendorText,
} from "svc/sdk";

export interface ResultReader {
  adapter: string;
  dims: number | undefined;
  secrets: readonly string[];
}

/**
 * Reads a job's results as they come.
 * @throws {EmbeddingError} `bad-response` for a line that is no result
 */
export async function* readResults(chunks: AsyncIterable<Buffer>, reader: ResultReader): AsyncGenerator<EmbeddingBatchResult> {
  for await (const line of jsonLines(chunks, reader.adapter)) yield toResult(line, reader);
}

function toResult(line: unknown, { adapter, dims, secrets }: ResultReader): EmbeddingBatchResult {
  const { key, error, response } = isRecord(line) ? line : {};
  const index = /^\d{1,9}$/.test(String(key)) ? Number(key) : -1;
  if (index < 0)
    throw new EmbeddingError("bad-response", `embedding adapter "${adapter}": a line of the batch's results has no key of ours`);
  if (error) return { index, error: reasonIn(error, secrets) };
  const embedding = isRecord(response) ? response.embedding : undefined;
  try {
    const [vector] = checkedVectors([isRecord(embedding) ? readVector(embedding.values) : undefined], { adapter, count: 1, dims });
    return { index, vector: vector as Float32Array };
  } catch (wrong) {
    return { index, error: messageOf(wrong) };
  }
}

/** Reason of a failure as the vendor states it, in one line. Pure. */
export function reasonIn(error: unknown, secrets: readonly string[]): string {
  const message = isRecord(error) ? error.message : undefined;
  const text = typeof message === "string" ? scrubVendorText(message, secrets) : "";
  return text === "" ? "the vendor gave no reason" : text;
}
