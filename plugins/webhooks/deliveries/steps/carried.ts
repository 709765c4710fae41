import type { DeliveryRow, JsonObject, OpResult, StoreOp } from "svc/sdk";
import type { DeliveryKit } from "../kit.ts";
import { commitAtLast } from "../patience.ts";
import type { StoredAction } from "../stored-action.ts";

/** A claimed row on its way. */
export interface Carried {
  readonly row: DeliveryRow;
  readonly action: StoredAction;
  readonly kit: DeliveryKit;
  /** Aborted when this instance stops: the row is given back. */
  readonly signal: AbortSignal;
}

/** The names under which steps stand in a row, in their order. `retry` is no step of the work: which run comes next, and why. */
export type StepName = "run" | "deliver" | "summary" | "heartbeat" | "note" | "retry";

/** The record of a step as an operation. It fails with `delivery-state` once somebody else has claimed the row: what stands beside it is not done then. */
export function stepOp({ row, kit }: Pick<Carried, "row" | "kit">, step: StepName, value: JsonObject): StoreOp {
  return { op: "delivery.step", uid: row.uid, leaseBoot: kit.lease, step, value, at: kit.ctx.clock.now() };
}

/** Records a step, with what has to be stored in the same moment. */
export function record(
  carried: Carried,
  step: StepName,
  { value, with: more = [] }: { value: JsonObject; with?: StoreOp[] },
): Promise<OpResult[]> {
  const { row, kit, signal } = carried;
  const isStored = () => kit.store().deliveries.get(row.uid)?.steps[step] !== undefined;
  return commitAtLast([...more, stepOp(carried, step, value)], { kit, signal, isStored });
}
