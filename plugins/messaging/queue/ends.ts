import { cleanExternalLine, type DeliveryRow, isSvcError, type JsonObject, messageOf, oneLine, type StoreOp, sleep } from "svc/sdk";
import { deliveryOwner, isStaleWrite, isUnchanged } from "svc/sdk/internal";
import type { QueueKit } from "./kit.ts";
import { type Outgoing, partUid } from "./message.ts";

/** Pause between two looks whether the storage is back. */
const RETRY_MS = 1_000;
/** Longest recipient in a note. */
const MAX_TO_CHARS = 100;

interface Ended {
  row: DeliveryRow;
  message: Outgoing;
}

/** The platform has it. */
export async function succeed(kit: QueueKit, { row, message, messageId }: Ended & { messageId: string }): Promise<void> {
  const at = kit.clock.now();
  const result: JsonObject = { status: "sent", messageId, ...(message.part ? { parts: message.part.of } : {}) };
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
 * @param ended `what`: the reason without a word of the platform, for the agent who reads the note; default: `reason`
 */
export async function fail(
  kit: QueueKit,
  ended: Ended & { attempt: number; outcome: "failed" | "expired"; reason: string; what?: string },
): Promise<void> {
  const { row, message, attempt, outcome, reason, what = reason } = ended;
  const { uid } = row;
  // The main session is no platform: what it says are our own words.
  const shown = message.route.channel === "webchat" ? reason : what;
  const stored = () => untilStored(kit, () => kit.store().deliveries.get(uid));
  if (!isUnchanged(row, await stored())) return logLost(kit, uid);
  await note(kit, { row, message, text: outcome === "expired" ? `it waited too long: ${shown}` : shown });
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

/**
 * The message itself stays in its session; what is added is that nobody got it. It is read as the agent's own, so nothing of a platform stands in it but the recipient,
 * on one short line; its words are in the row and in the log. An operator's retry gives it more time, and another note.
 */
export function undeliveredNote({ uid, expiresAt }: DeliveryRow, { route, part }: Outgoing, reason: string): { id: string; text: string } {
  const to = route.to === undefined ? "" : ` (${oneLine(cleanExternalLine(route.to), MAX_TO_CHARS)})`;
  const which = part === undefined || part.index === 1 ? "Message" : `Message (from part ${part.index} of ${part.of} on)`;
  return { id: `${uid}:note:${expiresAt}`, text: `${which} to ${route.channel}${to} not delivered: ${cleanExternalLine(reason)}` };
}

/** True when the part before this one was given up: nobody is to read the end of a message without its middle. */
export async function isCutOff({ part }: Outgoing, kit: QueueKit): Promise<boolean> {
  if (part === undefined || part.index === 1) return false;
  const before = await kit.store().deliveries.get(partUid(part.message, part.index - 1));
  return before?.state === "failed" || before?.state === "expired";
}

/** Ends a part whose message was given up before it; the part that failed has left the note. */
export async function endCutOff(row: DeliveryRow, kit: QueueKit): Promise<void> {
  const result: JsonObject = { status: "failed", reason: "an earlier part of the message was not delivered" };
  kit.logger.debug("a part of a message is not sent: the one before it was given up", { uid: row.uid });
  await settle(kit, { op: "delivery.finish", uid: row.uid, from: ["accepted", "uncertain"], state: "failed", result, at: kit.clock.now() });
}

async function note(kit: QueueKit, { row, message, text }: Ended & { text: string }): Promise<void> {
  if (message.isNotice) return;
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
