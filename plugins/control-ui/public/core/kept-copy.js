import { kept } from "./env.js";

/**
 * Copy that this browser was told to keep for reading without a network.
 *
 * @typedef {{ at: number, hello: any, sessions: any[], chats: Array<{ key: string, messages: any[] }> }} Copy
 */

/** Name in the storage. */
export const COPY = "offline-copy";

/** @returns {Copy | undefined} */
export function copyOf() {
  try {
    return JSON.parse(kept.get(COPY) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Messages of a chat as they were read last. @param {string} key @returns {any[] | undefined} */
export function keptMessages(key) {
  return copyOf()?.chats.find((chat) => chat.key === key)?.messages;
}
