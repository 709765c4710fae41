import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ModelError } from "../../define.ts";

/** Limits on the size of an answer. An event is what stands between two blank lines; it is parsed at a stretch. */
export interface AnswerLimits {
  /** Maximum size of an answer. */
  maxBytes: number;
  /** Maximum size of an event. */
  maxEventBytes: number;
  /** Brackets and commas of an event, those in its texts left out. */
  maxEventParts: number;
}

/** A stream of 200,000 events with all that careless servers repeat in each of them. Nothing of it is kept here. */
export const answerLimits: AnswerLimits = { maxBytes: 256 * 1024 * 1024, maxEventBytes: 1024 * 1024, maxEventParts: 10_000 };
/** A document that is parsed whole. */
export const documentLimits: AnswerLimits = { maxBytes: 4 * 1024 * 1024, maxEventBytes: 4 * 1024 * 1024, maxEventParts: 200_000 };

/** Bytes that are read of an answer that is an error: its words stand at the beginning. */
const MAX_ERROR_BYTES = 64 * 1024;
/** After so long others have their turn: a server on this machine sends faster than its events can be read. */
const TURN_MS = 5;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/**
 * The body of an answer, read no further than the limits: a broken or hostile server could fill the memory, or have a single event parsed for seconds.
 * Of an error's body the beginning is left; any other that goes beyond them ends in a `ModelError`. Leaving it early ends the body.
 */
export function limited(body: Readable, { isSuccess, limits }: { isSuccess: boolean; limits: AnswerLimits }): ReadableStream<Uint8Array> {
  return passed(body, isSuccess ? counted(limits) : beginning(MAX_ERROR_BYTES));
}

/** Returns what goes on of a chunk; undefined ends the answer there. */
type Take = (chunk: Uint8Array) => Uint8Array | undefined;

function counted({ maxBytes, maxEventBytes, maxEventParts }: AnswerLimits): Take {
  let total = 0;
  const count = createEventCounter();
  const tooLarge = (what: string) => new ModelError("network", `${what} of the server is larger than expected; it was not read to its end`);
  return (chunk) => {
    total += chunk.length;
    if (total > maxBytes) throw tooLarge("the answer");
    const { bytes, parts } = count(chunk);
    if (bytes > maxEventBytes || parts > maxEventParts) throw tooLarge("an event");
    return chunk;
  };
}

function beginning(maxBytes: number): Take {
  let left = maxBytes;
  return (chunk) => {
    if (left === 0) return undefined;
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    return piece;
  };
}

function passed(body: Readable, take: Take): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let turn = performance.now();
  return new ReadableStream({
    async pull(controller) {
      if (performance.now() - turn > TURN_MS) {
        await nextTurn();
        turn = performance.now();
      }
      const { done, value } = await chunks.next();
      if (done) return controller.close();
      try {
        const piece = take(value);
        if (piece) return controller.enqueue(piece);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      // The socket is closed, whatever the server still wants to say.
      body.destroy();
    },
    cancel: () => void body.destroy(),
  });
}

/** Counts what came since the last blank line, and tells the largest counts within each chunk. */
function createEventCounter(): (chunk: Uint8Array) => { bytes: number; parts: number } {
  let bytes = 0;
  let parts = 0;
  let isBlank = true;
  let isText = false;
  let isEscaped = false;
  return (chunk) => {
    const largest = { bytes: 0, parts: 0 };
    const look = () => {
      largest.bytes = Math.max(largest.bytes, bytes);
      largest.parts = Math.max(largest.parts, parts);
    };
    // By index and without calls: each byte of each answer comes through here.
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      bytes += 1;
      if (byte === NEWLINE) {
        if (isBlank) {
          look();
          bytes = 0;
          parts = 0;
          isText = false;
        }
        isBlank = true;
        isEscaped = false;
        continue;
      }
      if (byte !== RETURN) isBlank = false;
      if (isEscaped) isEscaped = false;
      else if (byte === QUOTE) isText = !isText;
      else if (isText) isEscaped = byte === BACKSLASH;
      else if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) parts += 1;
    }
    look();
    return largest;
  };
}
