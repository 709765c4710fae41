import { isSvcError } from "../errors.ts";
import type { DeliveryOwner } from "../types/store.ts";
import type { DeliveryRow } from "../types/store-rows.ts";

/** Owner of a delivery as it was read or claimed, for the write that ends it or puts it back; none for one that waits. */
export function deliveryOwner({ leaseBoot, attempt }: Pick<DeliveryRow, "leaseBoot" | "attempt">): { owner?: DeliveryOwner } {
  return leaseBoot === undefined ? {} : { owner: { leaseBoot, attempt } };
}

/** True for a write that was refused because another one has ended the delivery, put it back, or claimed it. */
export function isStaleWrite(error: unknown): boolean {
  return isSvcError(error, "delivery-state") || isSvcError(error, "fenced");
}

/** True while nobody has claimed, ended or put back a delivery since it was read or claimed, nor given it more time. @param now the row as it is stored */
export function isUnchanged(row: DeliveryRow, now: DeliveryRow | undefined): boolean {
  return now?.state === row.state && now.attempt === row.attempt && now.leaseBoot === row.leaseBoot && now.expiresAt === row.expiresAt;
}
