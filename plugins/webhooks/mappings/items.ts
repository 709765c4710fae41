import { isRecord } from "svc/sdk";
import { ItemView } from "./item-view.ts";

/** Most items of one request. */
const MAX_ITEMS = 200;

/** Payloads that a request comes to: itself, or one for each item of a list in it. */
export interface Items {
  payloads: Array<unknown | ItemView>;
  warnings: string[];
}

/** @param forEach top-level key of the list; each item is seen as a list of its own in the same place */
export function itemsOf(payload: unknown, forEach: string | undefined): Items {
  if (forEach === undefined) return { payloads: [payload], warnings: [] };
  const list = isRecord(payload) && Object.hasOwn(payload, forEach) ? payload[forEach] : undefined;
  if (!Array.isArray(list)) return { payloads: [], warnings: [`the payload has no list "${forEach}"; nothing is done`] };
  const warnings = list.length > MAX_ITEMS ? [`"${forEach}" has ${list.length} items; only the first ${MAX_ITEMS} are used`] : [];
  return { payloads: list.slice(0, MAX_ITEMS).map((item) => new ItemView(payload as Record<string, unknown>, forEach, item)), warnings };
}
