import { EmbeddingError } from "../define.ts";

/** One vector of 4,096 numbers as text has 100 KB. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * The values of a file of JSON lines, read as its pieces come; blank lines are left out.
 * @throws {EmbeddingError} `bad-response` for a line that is not JSON or over 4 MiB
 */
export async function* jsonLines(chunks: AsyncIterable<Buffer>, adapter: string): AsyncGenerator<unknown> {
  let rest: Buffer[] = [];
  let bytes = 0;
  const wrong = (what: string) => new EmbeddingError("bad-response", `embedding adapter "${adapter}": ${what}`);
  const parsed = (): unknown => {
    const text = Buffer.concat(rest).toString("utf8").trim();
    rest = [];
    bytes = 0;
    if (text === "") return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw wrong("a line of the result is not JSON");
    }
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      rest.push(chunk.subarray(from, at));
      from = at + 1;
      const value = parsed();
      if (value !== undefined) yield value;
    }
    rest.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) throw wrong("a line of the result is longer than 4 MiB");
  }
  const last = parsed();
  if (last !== undefined) yield last;
}
