import { Refusal } from "./refusal.ts";

/** Moments around a durable step at which a test can stop the process or the thread. */
export const failpoints = [
  "store.after-copy",
  "store.before-migrated",
  "store.before-begin",
  "store.after-ops",
  "store.before-commit",
  "store.after-commit",
  "store.before-reply",
] as const;
export type Failpoint = (typeof failpoints)[number];

interface Planned {
  action: string;
  at: number;
}

/**
 * Reads `point=action[@n]`, several joined by `;`: at the n-th visit (default the first) `kill` sends SIGKILL to the process, `exit` ends the thread.
 * Points of other subsystems are ignored; no text means no failpoint.
 */
export function createFailpoint(text: string | undefined): (point: Failpoint) => void {
  const planned = new Map<string, Planned>();
  for (const part of (text ?? "").split(";")) {
    const match = /^\s*([\w.-]+)=(kill|exit)(?:@(\d+))?\s*$/.exec(part);
    if (match?.[1]?.startsWith("store.")) planned.set(match[1], { action: match[2] ?? "", at: Number(match[3] ?? 1) });
  }
  for (const name of planned.keys()) {
    if (!failpoints.some((point) => point === name)) throw new Refusal("store-invalid-op", { reason: `unknown failpoint "${name}"` });
  }
  return (point) => {
    const plan = planned.get(point);
    if (plan === undefined) return;
    plan.at -= 1;
    if (plan.at === 0) stop(plan.action);
  };
}

function stop(action: string): void {
  if (action === "exit") process.exit(9);
  process.kill(process.pid, "SIGKILL");
  // The signal reaches the whole process, but not before this thread could go on: wait for it here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
}
