import { EmbeddingError } from "../define.ts";
import { createPauses } from "./in-turns.ts";

/** One vector of 4,096 numbers as text has 100 KB. A line is parsed at a stretch. */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * The values of a file of JSON lines, read as its pieces come; blank lines are left out. Never holds up the event loop, however many lines come at once.
 * @throws {EmbeddingError} `bad-response` for a line that is not JSON or over 1 MiB
 */
export async function* jsonLines(chunks: AsyncIterable<Buffer>, adapter: string): AsyncGenerator<unknown> {
  let rest: Buffer[] = [];
  let bytes = 0;
  const pause = createPauses();
  const wrong = (what: string) => new EmbeddingError("bad-response", `embedding adapter "${adapter}": ${what}`);
  const tooLong = () => wrong("a line of the result is longer than 1 MiB");
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
      bytes += at - from;
      if (bytes > MAX_LINE_BYTES) throw tooLong();
      from = at + 1;
      const value = parsed();
      if (value !== undefined) yield value;
      const pausing = pause();
      if (pausing) await pausing;
    }
    rest.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) throw tooLong();
  }
  const last = parsed();
  if (last !== undefined) yield last;
}
