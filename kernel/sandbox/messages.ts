/** Requests of the gateway to a guest; JSON text on the wire. */
export type HostMessage =
  | { type: "start"; data: unknown }
  | { type: "call"; id: number; name: string; args: unknown }
  | { type: "abort"; id: number };

/** Answers of a guest. */
export type GuestMessage =
  | { type: "started"; value: unknown }
  | { type: "start-failed"; error: GuestError }
  | { type: "done"; id: number; value: unknown }
  | { type: "failed"; id: number; error: GuestError }
  | { type: "update"; id: number; text: string }
  | { type: "log"; level: "debug" | "info" | "warn" | "error"; message: string };

/** Code by which a guest says that what it was given does not fit its schema. */
export const INVALID_INPUT = "invalid-input";

/** An error as it crosses the border. */
export interface GuestError {
  message: string;
  code?: string;
  /** First place in the guest's own files: `file:line:column`. */
  place?: string;
  stack?: string;
}

const kinds = new Set(["started", "start-failed", "done", "failed", "update", "log"]);

/** A guest's text as a message; undefined for anything else: what comes from a guest is foreign. */
export function parseGuestMessage(text: unknown): GuestMessage | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value = JSON.parse(text) as GuestMessage;
    return kinds.has(value?.type) ? value : undefined;
  } catch {
    return undefined;
  }
}
