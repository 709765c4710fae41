import { ModelError } from "svc/sdk";

/** How much of an answer is taken. */
export interface AnswerLimits {
  /** Of an answer altogether, after decompression. */
  maxBytes: number;
  /** Between two blank lines of an event stream: a single event is parsed at a stretch. */
  maxEventBytes: number;
}

/** A stream of 200,000 events with all that careless servers repeat in each of them. Nothing of it is kept here. */
export const answerLimits: AnswerLimits = { maxBytes: 256 * 1024 * 1024, maxEventBytes: 1024 * 1024 };
/** A document that is parsed whole. */
export const documentLimits: AnswerLimits = { maxBytes: 4 * 1024 * 1024, maxEventBytes: 4 * 1024 * 1024 };

/** What is read of an answer that is an error: its words stand at the beginning. */
const MAX_ERROR_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * The same answer, read no further than the limits: a broken or hostile server could fill the memory, or have a single event parsed for seconds.
 * Of an error's body the beginning is left; any other answer that goes beyond them ends in a `ModelError`.
 */
export function limited(response: Response, limits: AnswerLimits): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const stream = response.ok ? counted(body, limits) : beginning(body, MAX_ERROR_BYTES);
  return new Response(stream, { status, statusText, headers });
}

function counted(body: ReadableStream<Uint8Array>, { maxBytes, maxEventBytes }: AnswerLimits): ReadableStream<Uint8Array> {
  let total = 0;
  const eventBytes = createEventCounter();
  return passed(body, (chunk) => {
    total += chunk.length;
    if (total > maxBytes) throw new ModelError("network", `the server's answer is larger than ${maxBytes} bytes`);
    if (eventBytes(chunk) > maxEventBytes)
      throw new ModelError("network", `an event of the server's answer is larger than ${maxEventBytes} bytes`);
    return chunk;
  });
}

function beginning(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let left = maxBytes;
  return passed(body, (chunk) => {
    if (left === 0) return undefined;
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    return piece;
  });
}

/** @param take what goes on of a chunk; undefined ends the answer there */
function passed(body: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => Uint8Array | undefined): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      try {
        const piece = take(value);
        if (piece) return controller.enqueue(piece);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      // The socket is closed, whatever the server still wants to say.
      await reader.cancel().catch(() => undefined);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Counts the bytes since the last blank line, and tells the largest count within each chunk. */
function createEventCounter(): (chunk: Uint8Array) => number {
  let count = 0;
  let isLineEmpty = true;
  return (chunk) => {
    let largest = 0;
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      count += at + 1 - from;
      largest = Math.max(largest, count);
      const isBlank = at === from || (at === from + 1 && chunk[from] === RETURN);
      if (isLineEmpty && isBlank) count = 0;
      isLineEmpty = true;
      from = at + 1;
    }
    if (from < chunk.length) isLineEmpty &&= chunk.length === from + 1 && chunk[from] === RETURN;
    count += chunk.length - from;
    return Math.max(largest, count);
  };
}
