import { Refusal } from "./refusal.ts";

const deliveryOps = ["delivery.accept", "delivery.claim", "delivery.step", "delivery.requeue", "delivery.finish"] as const;
const deliveryMoments = ["before-write", "after-write", "before-commit", "after-commit", "before-reply"] as const;
type DeliveryMoment = (typeof deliveryMoments)[number];

const storeFailpoints = [
  "store.after-copy",
  "store.before-migrated",
  "store.before-begin",
  "store.after-ops",
  "store.before-commit",
  "store.after-commit",
  "store.before-reply",
] as const;

/** Failpoints of each operation on deliveries: `delivery.claim.after-commit` is visited once for each claim of the transaction. */
export const deliveryFailpoints = deliveryOps.flatMap((op) => deliveryMoments.map((moment) => `${op}.${moment}` as const));

/** Moments around a durable step at which a test can stop the process or the thread. */
export const failpoints = [...storeFailpoints, ...deliveryFailpoints] as const;
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
  if (text === undefined) return unarmed;
  const planned = new Map<string, Planned>();
  for (const part of text.split(";")) {
    const match = /^\s*([\w.-]+)=(kill|exit)(?:@(\d+))?\s*$/.exec(part);
    if (match?.[1] && /^(store|delivery)\./.test(match[1])) planned.set(match[1], { action: match[2] ?? "", at: Number(match[3] ?? 1) });
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

/** Without a plan nobody looks for names: every write passes here. */
const unarmed = () => undefined;

/** Visits the point of an operation that has some. */
export function visitDelivery(visit: (point: Failpoint) => void, { op }: { op: string }, moment: DeliveryMoment): void {
  if (visit === unarmed) return;
  const name = deliveryOps.find((known) => known === op);
  if (name) visit(`${name}.${moment}`);
}

/** The same for all operations of a group. */
export function visitDeliveries(visit: (point: Failpoint) => void, commits: Array<Array<{ op: string }>>, moment: DeliveryMoment): void {
  if (visit === unarmed) return;
  for (const ops of commits) for (const op of ops) visitDelivery(visit, op, moment);
}

function stop(action: string): void {
  if (action === "exit") process.exit(9);
  process.kill(process.pid, "SIGKILL");
  // The signal reaches the whole process, but not before this thread could go on: wait for it here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
}
