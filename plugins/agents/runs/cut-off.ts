import type { RunRequest, RunRow } from "svc/sdk";

/** A run that the end of a gateway cut off, or whose end could not be stored. Asked only of runs that nobody is at work on. */
export function isCutOff(row: RunRow): boolean {
  return row.state === "interrupted" || row.state === "queued" || row.state === "running";
}

/** Is the starter of the run one that comes back for it? What it has half said is said again by the next try. */
export function isRevivable(request: RunRequest): boolean {
  return request.resume === true || request.trigger === "hook";
}
