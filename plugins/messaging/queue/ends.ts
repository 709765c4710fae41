import { type DeliveryRow, isSvcError, type JsonObject, messageOf, type StoreOp, sleep } from "svc/sdk";
import { deliveryOwner, isStaleWrite } from "svc/sdk/internal";
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

/** Gives the message up: a note in its session, the end, and only then the event to plugins. */
export async function fail(
  kit: QueueKit,
  { row, message, attempt, outcome, reason }: Ended & { attempt: number; outcome: "failed" | "expired"; reason: string },
): Promise<void> {
  const { uid } = row;
  await note(kit, { row, message, text: outcome === "expired" ? `it waited too long: ${reason}` : reason });
  const result: JsonObject = { status: outcome, reason };
  await settle(kit, {
    op: "delivery.finish",
    uid,
    from: ["accepted", "uncertain", "sending", "running"],
    ...deliveryOwner(row),
    state: outcome,
    result,
    at: kit.clock.now(),
  });
  kit.logger.warn(`message ${uid} to ${message.route.channel} failed and will not be retried`, { outcome, attempt, reason });
  kit.failed(message, { error: reason, attempt, permanent: true, outcome });
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

async function settle(kit: QueueKit, op: StoreOp): Promise<void> {
  try {
    await untilStored(kit, () => kit.store().commit([op]));
  } catch (error) {
    if (!isStaleWrite(error)) throw error;
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
