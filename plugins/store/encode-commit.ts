import { createError, type StoreOp } from "svc/sdk";
import { storeErrors } from "./errors.ts";
import { encodeOp, type LeaseOp, type WriteOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";

/** Whether a delivery ends with it, so that its row may be dropped some day. */
export function endsDelivery(op: WriteOp): boolean {
  return op.op === "delivery.finish" || (op.op === "delivery.accept" && ("done" in op || op.row.ended_at !== null));
}

/** The operations of one commit as the writer thread takes them. @throws {SvcError} for one that no row can hold */
export function encodeAll(ops: ReadonlyArray<StoreOp | LeaseOp>): WriteOp[] {
  try {
    return ops.map((op) => (isLeaseOp(op) ? op : encodeOp(op)));
  } catch (error) {
    throw error instanceof Refusal ? createError(storeErrors, error.code, error.fields) : error;
  }
}

function isLeaseOp(op: StoreOp | LeaseOp): op is LeaseOp {
  return op.op.startsWith("lease.");
}
