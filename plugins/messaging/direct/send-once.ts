import { createHash } from "node:crypto";
import { isSvcError, type MessageRoute, type Messaging, type OutboundRequest } from "svc/sdk";
import { messagingErrors } from "../errors.ts";

/** Time a caller waits for the platform; a message that takes longer is in the queue, and its caller is told so. */
const WAIT_MS = 10_000;

/** Outcome of a message that somebody has sent by name. `queued`: it is accepted and waits; `uncertain`: nobody knows whether the platform has it. */
export interface Sent {
  uid: string;
  route: MessageRoute;
  status: "sent" | "queued" | "uncertain";
  /** Id the platform gave it. */
  messageId?: string;
}

/** Id of a message that is the same for every repeat of the same call. */
export function uidOf(kind: "send" | "tool", ...parts: string[]): string {
  return `${kind}-${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)}`;
}

/**
 * Hands a message to the queue and waits a moment for what becomes of it.
 * @throws {SvcError} `not-delivered`, what `deliver` throws, or the signal's reason
 */
export async function sendOnce(
  service: Pick<Messaging, "deliver" | "waitDelivered">,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<Sent> {
  const { uid, route } = await service.deliver(request);
  try {
    const { state, messageId, error, withheld } = await service.waitDelivered(uid, { signal, timeoutMs: WAIT_MS });
    if (state === "failed" || state === "expired") throw messagingErrors.notDelivered({ uid, reason: error ?? "no reason is known" });
    if (withheld === "policy")
      throw messagingErrors.notDelivered({ uid, reason: "session.sendPolicy, or the session's own setting, denies it" });
    const status = state === "done" ? "sent" : "uncertain";
    return { uid, route, status, ...(messageId === undefined ? {} : { messageId }) };
  } catch (error) {
    if (isSvcError(error, "wait-timeout")) return { uid, route, status: "queued" };
    throw error;
  }
}
