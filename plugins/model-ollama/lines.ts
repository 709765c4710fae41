import { ModelError } from "svc/sdk";

/** Parsed at a stretch. */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * The JSON values of a body with one value a line.
 * @throws {ModelError} for a line that is too long, or none
 */
export async function* jsonLines(body: AsyncIterable<Uint8Array>, maxLineBytes = MAX_LINE_BYTES): AsyncIterable<unknown> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  const add = (piece: Uint8Array) => {
    size += piece.length;
    if (size > maxLineBytes) throw new ModelError("network", "a line of the answer is larger than expected; it was not read to its end");
    pieces.push(piece);
  };
  const take = (): string => {
    const text = Buffer.concat(pieces).toString("utf8").trim();
    pieces = [];
    size = 0;
    return text;
  };
  for await (const chunk of body) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      const line = take();
      if (line !== "") yield parsed(line);
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  const last = take();
  if (last !== "") yield parsed(last);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ModelError("network", "the answer could not be understood");
  }
}
