import { randomBytes } from "node:crypto";

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

/** Begins what stands for a value that is kept out of the parse; of this process, so that no answer can hold it. */
const mark = `\u0001${randomBytes(9).toString("base64url")}:`;

/** Takes a JSON text in pieces. */
export interface VectorJson {
  /** @throws {SyntaxError} when a list of numbers cannot be read; when a single value, or the answer without its vectors, is too long to be read at a stretch */
  push(chunk: Buffer): void;
  /**
   * The value; every list of numbers in it is a `Float32Array`.
   * @throws {SyntaxError} when the text is not JSON
   */
  end(): unknown;
}

/**
 * A JSON parser for answers that are megabytes of numbers: each list of numbers is read when its piece of the answer comes, so that no turn of the event
 * loop is long. `JSON.parse` of the whole takes over 20 ms from about 1 MiB on.
 */
export function createVectorJson(): VectorJson {
  const skeleton: Buffer[] = [];
  const pool: unknown[] = [];
  let skeletonBytes = 0;
  let collected: Buffer[] = [];
  let collectedBytes = 0;
  let state: "outside" | "bracket" | "numbers" | "text" = "outside";
  let escaped = false;
  let hasEscapes = false;

  const put = (piece: Buffer): void => {
    skeletonBytes += piece.length;
    if (skeletonBytes > MAX_REST_BYTES) throw new SyntaxError("the answer holds too much besides vectors");
    skeleton.push(piece);
  };
  const keep = (value: unknown): void => {
    put(Buffer.from(JSON.stringify(`${mark}${pool.length}`)));
    pool.push(value);
  };
  const begin = (first: Buffer): void => {
    collected = [first];
    collectedBytes = first.length;
  };
  const collect = (piece: Buffer): void => {
    collectedBytes += piece.length;
    if (collectedBytes > MAX_VALUE_BYTES) throw new SyntaxError("a single value of the answer is too long");
    collected.push(piece);
  };

  const outside = (chunk: Buffer, from: number): number => {
    let at = from;
    while (at < chunk.length && chunk[at] !== QUOTE && chunk[at] !== OPEN) at++;
    put(chunk.subarray(from, at));
    if (at === chunk.length) return at;
    const isText = chunk[at] === QUOTE;
    state = isText ? "text" : "bracket";
    if (isText) begin(chunk.subarray(at, at + 1));
    escaped = false;
    hasEscapes = false;
    return at + 1;
  };

  const bracket = (chunk: Buffer, from: number): number => {
    let at = from;
    while (at < chunk.length && (chunk[at] as number) <= 0x20) at++;
    if (at === chunk.length) return at;
    const first = chunk[at] as number;
    const isNumber = first === MINUS || (first >= 0x30 && first <= 0x39);
    state = isNumber ? "numbers" : "outside";
    if (isNumber) begin(Buffer.of(OPEN));
    else put(Buffer.of(OPEN));
    return at;
  };

  const numbers = (chunk: Buffer, from: number): number => {
    const close = chunk.indexOf(CLOSE, from);
    const end = close === -1 ? chunk.length : close + 1;
    collect(chunk.subarray(from, end));
    if (close === -1) return end;
    const list = JSON.parse(Buffer.concat(collected).toString("latin1")) as unknown[];
    keep(Float32Array.from(list, (item) => (typeof item === "number" ? item : Number.NaN)));
    state = "outside";
    return end;
  };

  const text = (chunk: Buffer, from: number): number => {
    let at = escaped ? from : plainEnd(chunk, from);
    while (at < chunk.length && (escaped || chunk[at] !== QUOTE)) {
      escaped = !escaped && chunk[at] === BACKSLASH;
      hasEscapes ||= escaped;
      at++;
    }
    const isOver = at < chunk.length;
    const end = isOver ? at + 1 : at;
    collect(chunk.subarray(from, end));
    if (!isOver) return end;
    const whole = Buffer.concat(collected);
    if (whole.length > LONG_TEXT && !hasEscapes) keep(whole.toString("utf8", 1, whole.length - 1));
    else put(whole);
    state = "outside";
    return end;
  };

  const steps = { outside, bracket, numbers, text };
  return {
    push(chunk) {
      for (let at = 0; at < chunk.length; ) at = steps[state](chunk, at);
    },
    end() {
      if (state !== "outside") throw new SyntaxError("the text breaks off");
      return withValues(JSON.parse(Buffer.concat(skeleton).toString("utf8")), pool, 1);
    },
  };
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

/** Where a text of the answer ends, or its first escape stands: found without a look at each byte, as a vector in base64 has thousands. */
function plainEnd(chunk: Buffer, from: number): number {
  const quote = chunk.indexOf(QUOTE, from);
  const end = quote === -1 ? chunk.length : quote;
  if (end - from < LONG_TEXT) return from;
  const backslash = chunk.subarray(from, end).indexOf(BACKSLASH);
  return backslash === -1 ? end : from + backslash;
}
