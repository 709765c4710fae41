import { isRecord } from "svc/sdk";
import { badRequest } from "./errors.ts";

/** Messages or items in one request. Each is read on the main thread. */
export const MAX_ITEMS = 10_000;

/**
 * Refuses a body with too many of `field` before any of them is read.
 * @throws {SvcError} `v1-bad-request`
 */
export function checkItemCount(body: unknown, field: "messages" | "input"): void {
  const items = isRecord(body) ? body[field] : undefined;
  if (Array.isArray(items) && items.length > MAX_ITEMS) throw badRequest(`${field}: ${items.length} entries; at most ${MAX_ITEMS}`);
}

/** Parts of one message, and calls that one makes: as many as results that one turn answers. */
export const MAX_PARTS = 1_000;

/**
 * Refuses a list within one message that is too long, before any of it is read.
 * @throws {SvcError} `v1-bad-request`
 */
export function checkPartCount(parts: readonly unknown[], path: string): void {
  if (parts.length > MAX_PARTS) throw badRequest(`${path}: ${parts.length} entries; at most ${MAX_PARTS}`);
}
