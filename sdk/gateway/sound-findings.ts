import type { DoctorFinding } from "../hooks.ts";

const order = { error: 0, warning: 1, info: 2 } as const;

/** What plugins reported as findings of the doctor: anything else is dropped; the worst come first, then by id. */
export function soundFindings(reported: readonly unknown[]): DoctorFinding[] {
  return reported.filter(isFinding).sort((a, b) => order[a.severity] - order[b.severity] || (a.id < b.id ? -1 : 1));
}

function isFinding(item: unknown): item is DoctorFinding {
  if (typeof item !== "object" || item === null) return false;
  const { id, severity, message } = item as Partial<DoctorFinding>;
  return typeof id === "string" && typeof message === "string" && severity !== undefined && Object.hasOwn(order, severity);
}
