import type { DoctorFinding } from "../../sdk/hooks.ts";

const order = { error: 0, warning: 1, info: 2 } as const;

/** Sorts out the findings that plugins reported to the doctor: anything else is dropped; the worst come first, then by id. Never throws. */
export function soundFindings(reported: readonly unknown[]): DoctorFinding[] {
  const sound = reported.flatMap((item) => copyFinding(item) ?? []);
  return sound.sort((a, b) => order[a.severity] - order[b.severity] || (a.id < b.id ? -1 : 1));
}

/** A copy of its JSON form: what a plugin keeps in its hands may throw when it is sent. Undefined for what is no finding. */
function copyFinding(item: unknown): DoctorFinding | undefined {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(item));
    return isFinding(copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}

function isFinding(item: unknown): item is DoctorFinding {
  if (typeof item !== "object" || item === null) return false;
  const { id, severity, message } = item as Partial<DoctorFinding>;
  return typeof id === "string" && typeof message === "string" && severity !== undefined && Object.hasOwn(order, severity);
}
