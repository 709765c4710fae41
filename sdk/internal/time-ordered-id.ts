import { randomUUID } from "node:crypto";

/**
 * A new id: a UUID that begins with its time (version 7), so that rows which are added together stand together in the index of the store. Random ones are spread
 * over all of it, and each costs a page of its own to write, and another one when it is dropped.
 * @param now epoch ms
 */
export function timeOrderedId(now: number): string {
  const time = now.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
