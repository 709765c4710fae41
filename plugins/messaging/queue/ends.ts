import { type DeliveryRow, isSvcError, type JsonObject, messageOf, type StoreOp, sleep } from "svc/sdk";
import { deliveryOwner, isStaleWrite, isUnchanged } from "svc/sdk/internal";
import type { QueueKit } from "./kit.ts";
import type { Outgoing } from "./message.ts";

/** Pause between two looks whether the storage is back. */
const RETRY_MS = 1_000;

interface Ended {
  row: DeliveryRow;
  message: Outgoing;
}

/** The platform has it. */
export async function succeed(kit: QueueKit, { row, message, messageId }: Ended & { messageId: string }): Promise<void> {
  const at = kit.clock.now();
  const result: JsonObject = { status: "sent", messageId };
  await settle(kit, { op: "delivery.finish", uid: row.uid, from: ["sending"], ...deliveryOwner(row), state: "done", result, at });
  kit.sent(message, { messageId, attempt: row.attempt, at });
}

/** Puts the message back to wait for another attempt. */
export async function putBack(
  kit: QueueKit,
  { row, message, to, waitMs, reason, unknown }: Ended & { to: "accepted" | "uncertain"; waitMs: number; reason: string; unknown: number },
): Promise<void> {
  const { uid, attempt } = row;
  const at = kit.clock.now();
  const result: JsonObject = { reason, ...(unknown > 0 ? { unknown } : {}) };
  await settle(kit, { op: "delivery.requeue", uid, from: ["sending"], ...deliveryOwner(row), to, notBefore: at + waitMs, result, at });
  kit.logger.warn(`message ${uid} to ${message.route.channel} was not sent; retrying`, {
    attempt,
    waitMs,
    isUncertain: to === "uncertain",
    reason,
  });
  kit.failed(message, { error: reason, attempt, permanent: false, outcome: to === "uncertain" ? "uncertain" : "retry" });
}

/**
 * Gives the message up: a note in its session, the end, and only then the event to plugins. The note comes first, so that no kill leaves an end without it
 * and whoever waits for the end finds it; but not for a message that somebody else has by now.
 */
export async function fail(
  kit: QueueKit,
  { row, message, attempt, outcome, reason }: Ended & { attempt: number; outcome: "failed" | "expired"; reason: string },
): Promise<void> {
  const { uid } = row;
  const stored = () => untilStored(kit, () => kit.store().deliveries.get(uid));
  if (!isUnchanged(row, await stored())) return logLost(kit, uid);
  await note(kit, { row, message, text: outcome === "expired" ? `it waited too long: ${reason}` : reason });
  const isEnded = await settle(kit, {
    op: "delivery.finish",
    uid,
    from: ["accepted", "uncertain", "sending", "running"],
    ...deliveryOwner(row),
    state: outcome,
    result: { status: outcome, reason },
    at: kit.clock.now(),
  });
  // The answer to a commit that was stored may be lost with the writer; the next one is refused then.
  if (!isEnded && (await stored())?.state !== outcome) return logLost(kit, uid);
  kit.logger.warn(`message ${uid} to ${message.route.channel} failed and will not be retried`, { outcome, attempt, reason });
  kit.failed(message, { error: reason, attempt, permanent: true, outcome });
}

function logLost({ logger }: QueueKit, uid: string): void {
  logger.debug("a message was taken over by another queue, or changed by an operator", { uid });
}

/** The message itself stays in its session; what is added is that nobody got it. An operator's retry gives it more time, and another note. */
export function undeliveredNote({ uid, expiresAt }: DeliveryRow, { route }: Outgoing, reason: string): { id: string; text: string } {
  const to = route.to === undefined ? "" : ` (${route.to})`;
  return { id: `${uid}:note:${expiresAt}`, text: `Message to ${route.channel}${to} not delivered: ${reason}` };
}

async function note(kit: QueueKit, { row, message, text }: Ended & { text: string }): Promise<void> {
  try {
    await untilStored(kit, () => kit.leaveNote(message, undeliveredNote(row, message, text)));
  } catch (error) {
    // Its agent is gone, for one: the log has to do.
    kit.logger.warn(`message ${message.uid}: its note could not be stored`, { error: messageOf(error) });
  }
}

/** @returns false when it was refused because somebody else has the message */
async function settle(kit: QueueKit, op: StoreOp): Promise<boolean> {
  try {
    await untilStored(kit, () => kit.store().commit([op]));
    return true;
  } catch (error) {
    if (!isStaleWrite(error)) throw error;
    return false;
  }
}

/**
 * The end of a try is stored, however long the storage is away: forgetting that a message was sent would send it twice.
 * @throws what does not pass by itself, and the signal's reason: no round begins after it was aborted
 */
export async function untilStored<T>(
  kit: Pick<QueueKit, "timers">,
  work: () => Promise<T>,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(RETRY_MS, signal, kit.timers);
    }
  }
}

/** A storage that was closed does not come back for this instance. */
export function isPassing(error: unknown): boolean {
  return isSvcError(error, "storage-busy") || (isSvcError(error, "storage-unavailable") && error.fields.reason !== "closed");
}
