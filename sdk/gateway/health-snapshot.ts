import { messageOf } from "../errors.ts";
import type { HealthPart } from "../hooks.ts";

/** What plugins reported, as parts that can be sent: anything else than a part is dropped, a value without a JSON form is a problem. */
export function soundParts(reported: readonly unknown[]): HealthPart[] {
  return reported.filter(isPart).map((part) => {
    try {
      JSON.stringify(part.value);
      return part;
    } catch (error) {
      return { part: part.part, ok: false, message: `its value cannot be sent: ${messageOf(error).split("\n", 1)[0]}` };
    }
  });
}

function isPart(item: unknown): item is HealthPart {
  return typeof item === "object" && item !== null && typeof (item as { part?: unknown }).part === "string";
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
    if (part.message && !part.ok) notes[part.part] = part.message;
    if (taken.has(part.part)) continue;
    taken.add(part.part);
    if (part.value !== undefined) payload[part.part] = part.value;
  }
  if (Object.keys(notes).length > 0) payload.problems = notes;
  return payload;
}

/** What counts as a change: everything but the clock. */
export function healthSignature(value: Record<string, unknown>): string {
  return JSON.stringify({ ...value, ts: 0, durationMs: 0, uptimeMs: 0, jobs: 0 });
}
