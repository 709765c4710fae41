import type { HealthPart } from "./hooks.ts";

/** The health payload: the first owner of a part wins; `ok` is that of the critical parts; problems are named. */
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
  const taken = new Set<string>();
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
  return JSON.stringify({ ...value, ts: 0, durationMs: 0, uptimeMs: 0 });
}
