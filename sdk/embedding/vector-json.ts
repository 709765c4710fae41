import { randomBytes } from "node:crypto";
import { createVectorDecoder } from "./vectors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const MINUS = 0x2d;
/** A longer text is kept out of the parse: a vector as base64. */
const LONG_TEXT = 1_024;
/** Longest list of numbers and longest text, which are read at a stretch: 16,384 numbers of 30 digits. */
const MAX_VALUE_BYTES = 512 * 1024;
/** Longest answer without its vectors: what is said of 2,048 of them is 200 KB. */
const MAX_REST_BYTES = 1024 * 1024;

const MAX_DEPTH = 64;
/** Member whose long text is a vector as base64; others, such as a token, stay texts. */
const VECTOR_NAME = '"embedding"';

/** Begins what stands for a value that is kept out of the parse; of this process, so that no answer can hold it. */
const mark = `\u0001${randomBytes(9).toString("base64url")}:`;

/** Takes a JSON text in pieces. */
export interface VectorJson {
  /** @throws {SyntaxError} when a list of numbers cannot be read; when a single value, or the answer without its vectors, is too long to be read at a stretch */
  push(chunk: Buffer): void;
  /**
   * The value; every list of numbers in it is a `Float32Array`, and so is a vector in base64 that is a member `embedding`, unless two pieces share its name.
   * @throws {SyntaxError} when the text is not JSON
   */
  end(): unknown;
}

/**
 * A JSON parser for answers that are megabytes of numbers: each list of numbers is read when its piece of the answer comes, so that no turn of the event
 * loop is long. `JSON.parse` of the whole takes over 20 ms from about 1 MiB on.
 */
export function createVectorJson(): VectorJson {
  return new VectorJsonParser();
}

class VectorJsonParser implements VectorJson {
  /** The answer with a mark in the place of each value that is kept out of the parse. */
  readonly #skeleton: Buffer[] = [];
  #skeletonBytes = 0;
  readonly #pool: unknown[] = [];
  /** Pieces of the list of numbers or of the text that is being read. */
  #collected: Buffer[] = [];
  #collectedBytes = 0;
  #state: "outside" | "bracket" | "numbers" | "text" = "outside";
  #isEscaped = false;
  #hasEscapes = false;
  readonly #decoder = createVectorDecoder();
  /** Does the text that is being read stand under a name of vectors? */
  #isVector = false;

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) at = this.#step(chunk, at);
  }

  end(): unknown {
    if (this.#state !== "outside") throw new SyntaxError("the text breaks off");
    return withValues(JSON.parse(Buffer.concat(this.#skeleton).toString("utf8")), this.#pool, 1);
  }

  /** Reads on in the present state. @returns where the next step begins */
  #step(chunk: Buffer, from: number): number {
    switch (this.#state) {
      case "outside":
        return this.#readOutside(chunk, from);
      case "bracket":
        return this.#readBracket(chunk, from);
      case "numbers":
        return this.#readNumbers(chunk, from);
      case "text":
        return this.#readText(chunk, from);
    }
  }

  #readOutside(chunk: Buffer, from: number): number {
    let at = nextValue(chunk, from);
    // Names of members and the like are no reason to cut the answer: only a value that may be kept out of the parse is.
    for (let end = shortTextEnd(chunk, at); end !== -1; end = shortTextEnd(chunk, at)) at = nextValue(chunk, end);
    this.#put(chunk.subarray(from, at));
    if (at === chunk.length) return at;
    const isText = chunk[at] === QUOTE;
    const end = isText ? longTextEnd(chunk, at) : -1;
    this.#isVector = isText && isNamedVector(chunk, at);
    if (end !== -1) {
      this.#keepText(chunk.subarray(at + 1, end));
      return end + 1;
    }
    this.#state = isText ? "text" : "bracket";
    if (isText) this.#begin(chunk.subarray(at, at + 1));
    this.#isEscaped = false;
    this.#hasEscapes = false;
    return at + 1;
  }

  #readBracket(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length && (chunk[at] as number) <= 0x20) at++;
    if (at === chunk.length) return at;
    const first = chunk[at] as number;
    const isNumber = first === MINUS || (first >= 0x30 && first <= 0x39);
    this.#state = isNumber ? "numbers" : "outside";
    if (isNumber) this.#begin(Buffer.of(OPEN));
    else this.#put(Buffer.of(OPEN));
    return at;
  }

  #readNumbers(chunk: Buffer, from: number): number {
    const close = chunk.indexOf(CLOSE, from);
    const end = close === -1 ? chunk.length : close + 1;
    this.#collect(chunk.subarray(from, end));
    if (close === -1) return end;
    this.#keep(this.#decoder.fromNumbers(JSON.parse(Buffer.concat(this.#collected).toString("latin1")) as unknown[]));
    this.#collected = []; // it would keep the piece of the answer until the next value
    this.#state = "outside";
    return end;
  }

  #readText(chunk: Buffer, from: number): number {
    let escaped = this.#isEscaped;
    let at = escaped ? from : plainEnd(chunk, from);
    while (at < chunk.length && (escaped || chunk[at] !== QUOTE)) {
      escaped = !escaped && chunk[at] === BACKSLASH;
      this.#hasEscapes ||= escaped;
      at++;
    }
    this.#isEscaped = escaped;
    const isOver = at < chunk.length;
    const end = isOver ? at + 1 : at;
    this.#collect(chunk.subarray(from, end));
    if (!isOver) return end;
    const whole = Buffer.concat(this.#collected);
    if (whole.length > LONG_TEXT && !this.#hasEscapes) this.#keepText(whole.subarray(1, -1));
    else this.#put(whole);
    this.#collected = [];
    this.#state = "outside";
    return end;
  }

  #put(piece: Buffer): void {
    this.#skeletonBytes += piece.length;
    if (this.#skeletonBytes > MAX_REST_BYTES) throw new SyntaxError("the answer holds too much besides vectors");
    // A copy: a few bytes would keep the 64 KiB that they came with.
    this.#skeleton.push(Buffer.from(piece));
  }

  /** A vector is decoded at once: as a text it would live until the end of the answer, among the old objects that are seldom collected. */
  #keepText(bytes: Buffer): void {
    const text = bytes.toString("utf8");
    this.#keep(this.#isVector ? (this.#decoder.fromText(text) ?? text) : text);
  }

  #keep(value: unknown): void {
    this.#put(Buffer.from(JSON.stringify(`${mark}${this.#pool.length}`)));
    this.#pool.push(value);
  }

  #begin(first: Buffer): void {
    this.#collected = [first];
    this.#collectedBytes = first.length;
  }

  #collect(piece: Buffer): void {
    this.#collectedBytes += piece.length;
    if (this.#collectedBytes > MAX_VALUE_BYTES) throw new SyntaxError("a single value of the answer is too long");
    this.#collected.push(piece);
  }
}

/** Puts the values that were kept out of the parse into their places. @throws {SyntaxError} for a nesting that would take more stack than there is */
function withValues(value: unknown, pool: readonly unknown[], depth: number): unknown {
  if (typeof value === "string") return value.startsWith(mark) ? pool[Number(value.slice(mark.length))] : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new SyntaxError("the answer is nested too deeply");
  const members = value as Record<string, unknown>;
  for (const key in members) members[key] = withValues(members[key], pool, depth + 1);
  return value;
}

/** Finds the next quote or opening bracket, or the end of the piece. */
function nextValue(chunk: Buffer, from: number): number {
  let at = from;
  while (at < chunk.length && chunk[at] !== QUOTE && chunk[at] !== OPEN) at++;
  return at;
}

/** Is what begins here the value of a member `embedding`? */
function isNamedVector(chunk: Buffer, at: number): boolean {
  const before = chunk.toString("latin1", Math.max(0, at - VECTOR_NAME.length - 2), at).trimEnd();
  return before.endsWith(`${VECTOR_NAME}:`) || before.endsWith(`${VECTOR_NAME} :`);
}

/** Finds the end of a short text without escapes that begins and ends in this piece; -1 for anything else. */
function shortTextEnd(chunk: Buffer, from: number): number {
  if (chunk[from] !== QUOTE) return -1;
  const limit = Math.min(chunk.length, from + LONG_TEXT);
  for (let at = from + 1; at < limit; at++) {
    if (chunk[at] === QUOTE) return at + 1;
    if (chunk[at] === BACKSLASH) return -1;
  }
  return -1;
}

/** Finds the closing quote of a long text without escapes that is whole in this piece, as a vector in base64 mostly is; -1 for anything else. */
function longTextEnd(chunk: Buffer, start: number): number {
  const quote = chunk.indexOf(QUOTE, start + 1);
  if (quote === -1 || quote - start <= LONG_TEXT || quote - start >= MAX_VALUE_BYTES) return -1;
  return chunk.subarray(start, quote).includes(BACKSLASH) ? -1 : quote;
}

/** Finds the end of a string of the answer, or its first escape, without looking at each byte: a vector in base64 has thousands. */
function plainEnd(chunk: Buffer, from: number): number {
  const quote = chunk.indexOf(QUOTE, from);
  const end = quote === -1 ? chunk.length : quote;
  if (end - from < LONG_TEXT) return from;
  const backslash = chunk.subarray(from, end).indexOf(BACKSLASH);
  return backslash === -1 ? end : from + backslash;
}
