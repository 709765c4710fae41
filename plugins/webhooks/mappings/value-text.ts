import { mappingFailed } from "../actions/refusal.ts";
import { ItemView } from "./item-view.ts";

/** Deeper JSON is not written; the endpoint refuses it. */
const MAX_DEPTH = 256;

export interface ValueLimits {
  /** Bytes of UTF-8 that may still be written. */
  room: number;
  /** Characters (UTF-16 units) after which the rest is left out instead. */
  maxChars: number;
}

/**
 * A value as text: strings as they are, numbers and booleans in words, objects and lists as JSON, nothing for null. Work is in proportion to what is
 * written, not to what there is: a body may be 32 MiB.
 * @throws {SvcError} `hook-mapping-failed` when it does not fit
 */
export function writeValue(value: unknown, { room, maxChars }: ValueLimits): string {
  if (value === undefined || value === null) return "";
  const limit = Math.min(room, maxChars);
  const isCut = maxChars <= room;
  const text = typeof value === "object" ? boundedJson(value, limit) : String(value);
  if (text.length <= limit) return text;
  if (!isCut) throw outputTooLarge();
  const end = limit > 0 && isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
  return text.slice(0, end);
}

export function outputTooLarge(): Error {
  return mappingFailed("the output of a template is larger than 256 KiB");
}

/** Whether a value has more than `limit` units as JSON. Work is in proportion to the limit. */
export function isLongerThan(value: unknown, limit: number): boolean {
  return boundedJson(value, limit).length > limit;
}

/** JSON of a value, at least its first `limit` units; what follows may be missing once there are more than `limit`. */
function boundedJson(value: unknown, limit: number): string {
  let out = "";
  const write = (at: unknown, depth: number): boolean => {
    if (depth > MAX_DEPTH) throw mappingFailed(`a value in a template is nested deeper than ${MAX_DEPTH} levels`);
    if (typeof at === "string") out += JSON.stringify(at.length > limit ? at.slice(0, limit + 1) : at);
    else if (typeof at !== "object" || at === null) out += JSON.stringify(at) ?? "null";
    else if (Array.isArray(at)) return writeList(at, depth);
    else if (at instanceof ItemView) return writeMembers(Object.keys(at.payload), (name) => at.member(name), depth);
    else return writeMembers(Object.keys(at), (name) => (at as Record<string, unknown>)[name], depth);
    return out.length <= limit;
  };
  const writeList = (list: readonly unknown[], depth: number): boolean => {
    out += "[";
    for (let i = 0; i < list.length; i += 1) {
      if (i > 0) out += ",";
      if (!write(list[i], depth + 1)) return false;
    }
    out += "]";
    return out.length <= limit;
  };
  const writeMembers = (names: readonly string[], memberOf: (name: string) => unknown, depth: number): boolean => {
    out += "{";
    let isFirst = true;
    for (const name of names) {
      out += isFirst ? "" : ",";
      isFirst = false;
      if (!write(name, depth + 1)) return false;
      out += ":";
      if (!write(memberOf(name), depth + 1)) return false;
    }
    out += "}";
    return out.length <= limit;
  };
  write(value, 0);
  return out;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
