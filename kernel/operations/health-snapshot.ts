import { isAbsolute } from "node:path";
import { messageOf } from "../../sdk/errors.ts";
import type { HealthPart } from "../../sdk/hooks.ts";

/** Longest JSON text of a part's value; every client that connects is sent it. */
const MAX_VALUE_CHARS = 1_048_576;

/** Turns reports of plugins into parts that can be sent: anything else than a part is dropped, a value without a JSON form is a problem. Never throws. */
export function soundParts(reported: readonly unknown[]): HealthPart[] {
  return reported.flatMap((item) => copyPart(item) ?? []);
}

/** A copy, because what a plugin keeps in its hands may be another thing at the next look, or throw. Undefined for what is no part. */
function copyPart(item: unknown): HealthPart | undefined {
  let name: unknown;
  try {
    if (typeof item !== "object" || item === null) return undefined;
    const { part, ok, critical, value, message, only } = item as Partial<HealthPart>;
    name = part;
    if (typeof part !== "string") return undefined;
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined && text.length > MAX_VALUE_CHARS)
      throw new RangeError(`it is longer than ${MAX_VALUE_CHARS} characters of JSON`);
    return {
      part,
      ok: Boolean(ok),
      ...(critical === true ? { critical } : {}),
      ...(text === undefined ? {} : { value: JSON.parse(text) as unknown }),
      ...(typeof message === "string" ? { message } : {}),
      ...(only === "status" ? { only } : {}),
    };
  } catch (error) {
    if (typeof name !== "string") return undefined;
    return { part: name, ok: false, message: `its value cannot be sent: ${messageOf(error).split("\n", 1)[0]}` };
  }
}

/** The health payload: the kernel's own keys stay, the first owner of a part wins; `ok` is that of the critical parts; problems are named. */
export function assembleHealth(base: Record<string, unknown>, parts: HealthPart[], times: Record<string, number>): Record<string, unknown> {
  const payload: Record<string, unknown> = {
    ok: !parts.some((p) => p.critical && !p.ok),
    ...times,
    channels: {},
    channelOrder: [],
    channelLabels: {},
    ...base,
  };
  const notes: Record<string, string> = {};
  const taken = new Set(["ok", ...Object.keys(times), ...Object.keys(base)]);
  for (const part of parts) {
    if (part.only !== undefined) continue;
    if (part.message && !part.ok) notes[part.part] = part.message;
    if (taken.has(part.part)) continue;
    taken.add(part.part);
    if (part.value !== undefined) payload[part.part] = part.value;
  }
  if (Object.keys(notes).length > 0) payload.problems = notes;
  return payload;
}

/** The parts that `status` alone shows, by name; the first owner wins. */
export function statusParts(parts: readonly HealthPart[]): Record<string, unknown> {
  const found = parts.filter((part) => part.only === "status" && part.value !== undefined);
  return Object.fromEntries(found.reverse().map(({ part, value }) => [part, value]));
}

/** Signature of a snapshot: everything but the clock, so that equal ones are not a change. */
export function healthSignature(value: Record<string, unknown>): string {
  return JSON.stringify({ ...value, ts: 0, durationMs: 0, uptimeMs: 0, jobs: 0 }, (key, member) => (key === "age" ? 0 : member));
}

/** The same without absolute paths of files, which administrators alone are told. */
export function withoutPaths<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, member) => (isFilePath(key, member) ? undefined : member))) as T;
}

/** A `path` that is not absolute is one of the config. */
function isFilePath(key: string, member: unknown): boolean {
  return (key === "path" || key === "damaged") && typeof member === "string" && isAbsolute(member);
}
