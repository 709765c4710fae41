/** Limits of JSON from outside: nothing that walks it by recursion runs out of stack, and nothing that lists its keys blocks the event loop. */
const MAX_DEPTH = 64;
const MAX_KEYS = 10_000;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Limits of one JSON text. */
export interface JsonLimits {
  /** Object keys in all; default: any number. The depth is limited to 64 levels everywhere. */
  maxKeys?: number;
}

/** Limits of a frame and of the body of a hook. */
export const strictJsonLimits: JsonLimits = { maxKeys: MAX_KEYS };

/**
 * Says why a JSON text is refused, before anything is made of it: it is nested deeper than 64 levels, or holds too many keys. Reads the text once and
 * stops at the first excess; text that is not JSON has no fault here and fails in the parser.
 *
 * @returns the end of a sentence such as "the request body is …", without a word of the text; undefined within the limits
 */
export function jsonTextFault(text: string, { maxKeys = Number.POSITIVE_INFINITY }: JsonLimits = {}): string | undefined {
  let depth = 0;
  let keys = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels: level ${depth} begins at character ${i + 1}`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case COLON:
        keys += 1;
        if (keys > maxKeys) return `too large: it holds more than ${maxKeys} keys`;
        break;
    }
  }
  return undefined;
}

/** Place of the closing quote; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) return i;
    if (unit === BACKSLASH) i += 1;
  }
  return text.length;
}

/**
 * Parses JSON from outside: `JSON.parse` behind {@link jsonTextFault}.
 * @throws {SyntaxError} for text that is not JSON or is over a limit; the message says which
 */
export function parseJson(text: string, limits?: JsonLimits): unknown {
  const fault = jsonTextFault(text, limits);
  if (fault !== undefined) throw new SyntaxError(`it is ${fault}`);
  return JSON.parse(text);
}

/**
 * True when parsed JSON is nested deeper than 64 levels or holds more than `maxKeys` object keys in all (default 10,000): for values that come from
 * another syntax than JSON. Code that walks the value by recursion afterwards cannot run out of stack.
 */
export function exceedsJsonShape(value: unknown, maxKeys: number = MAX_KEYS): boolean {
  let keys = 0;
  const walk = (at: unknown, depth: number): boolean => {
    if (typeof at !== "object" || at === null) return false;
    if (depth > MAX_DEPTH) return true;
    if (Array.isArray(at)) return at.some((inner) => walk(inner, depth + 1));
    // for…in, because it does not collect a million values first
    for (const key in at) {
      keys += 1;
      if (keys > maxKeys || walk((at as Record<string, unknown>)[key], depth + 1)) return true;
    }
    return false;
  };
  return walk(value, 1);
}
