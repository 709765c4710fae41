import { type DeliveryRow, type JsonObject, messageOf } from "svc/sdk";
import { isStaleWrite, reached } from "svc/sdk/internal";
import { endCutOff, fail, isCutOff, isPassing, putBack, succeed, untilStored } from "./ends.ts";
import type { Carrier, QueueKit } from "./kit.ts";
import { type Outgoing, readOutgoing } from "./message.ts";
import { isSpent, judge, SPENT, toFault } from "./verdict.ts";

/** Longest call of a channel; a platform that says nothing for so long may have the message or not. */
const SEND_LIMIT_MS = 60_000;

/** Tries of this row whose end nobody knows. */
export function unknownTries({ result }: Pick<DeliveryRow, "result">): number {
  return typeof result?.unknown === "number" ? result.unknown : 0;
}

/**
 * One try of one message: claimed first, sent then, and the end is stored.
 * @param signal aborts the call; what is not known by then counts as unknown
 * @throws {SvcError} when the storage fails before the message was sent; it waits as before
 */
export async function attempt(row: DeliveryRow, kit: QueueKit, signal: AbortSignal): Promise<void> {
  const message = readOutgoing(row.uid, row.payload);
  if (!message) return setAside(row, kit);
  if (await isCutOff(message, kit)) return endCutOff(row, kit);
  const { channel } = message.route;
  const carrier = await kit.carrierOf(channel);
  const end = { attempt: row.attempt, outcome: "failed" as const };
  if (!carrier) return fail(kit, { row, message, ...end, reason: `there is no channel "${channel}"; its plugin is off or was removed` });
  const readiness = carrier.readiness(message.route);
  if (readiness === "waiting") return;
  if (readiness !== "ready") return fail(kit, { row, message, ...end, reason: readiness.refused });
  if (isSpent(unknownTries(row), carrier.isIdempotent)) {
    const reason = `${SPENT}: ${String(row.result?.reason ?? "the gateway stopped meanwhile")}`;
    return fail(kit, { row, message, ...end, reason, what: SPENT });
  }
  const claimed = await claim(row, kit, signal);
  if (claimed) await send(claimed, { message, carrier, signal }, kit);
}

/**
 * Undefined when it is not what it was when it was read: somebody has dropped it, or tried it meanwhile; then it may have to wait longer than was read.
 */
async function claim(row: DeliveryRow, kit: QueueKit, signal: AbortSignal): Promise<DeliveryRow | undefined> {
  const { uid, attempt } = row;
  const isStored = async () => {
    const now = await kit.store().deliveries.get(uid);
    return now?.state === "sending" && now.leaseBoot === kit.lease && now.attempt === attempt + 1;
  };
  try {
    await kit.store().commit([{ op: "delivery.claim", uid, to: "sending", attempt, leaseBoot: kit.lease, at: kit.clock.now() }]);
  } catch (error) {
    if (isStaleWrite(error)) return undefined;
    // A commit that failed with the writer may have been stored all the same: it would stay claimed, and be sent by nobody.
    if (!isPassing(error) || !(await untilStored(kit, isStored, signal))) throw error;
  }
  await reached("messaging.after-claim");
  return { ...row, state: "sending", attempt: attempt + 1, leaseBoot: kit.lease };
}

async function send(
  row: DeliveryRow,
  { message, carrier, signal }: { message: Outgoing; carrier: Carrier; signal: AbortSignal },
  kit: QueueKit,
): Promise<void> {
  const { channel } = message.route;
  kit.logger.debug("delivery attempt", () => ({ uid: row.uid, channel, attempt: row.attempt }));
  const said = await within((limit) => carrier.send(message, limit), signal).catch((error: unknown) => ({ error }));
  if (!("error" in said)) {
    await reached("messaging.after-send");
    kit.logger.debug("delivered", () => ({ uid: row.uid, channel, attempt: row.attempt, messageId: said.messageId }));
    return succeed(kit, { row, message, messageId: said.messageId });
  }
  const tried = { attempt: row.attempt, unknown: unknownTries(row), isIdempotent: carrier.isIdempotent };
  const verdict = judge(toFault(said.error), tried, kit.random());
  kit.logger.debug("delivery failed", () => ({
    uid: row.uid,
    channel,
    attempt: row.attempt,
    next: verdict.next,
    reason: messageOf(said.error),
  }));
  if (verdict.next === "again") await putBack(kit, { row, message, ...verdict });
  else await fail(kit, { row, message, attempt: row.attempt, outcome: "failed", reason: verdict.reason, what: verdict.what });
}

/** A row that cannot be read ends alone; nobody knows to whom it would have gone. */
async function setAside({ uid, lane }: DeliveryRow, kit: QueueKit): Promise<void> {
  const result: JsonObject = { reason: "unreadable" };
  kit.logger.error("a message in the queue cannot be read and is skipped", { uid, lane });
  await kit
    .store()
    .commit([{ op: "delivery.finish", uid, from: ["accepted", "uncertain"], state: "failed", result, at: kit.clock.now() }])
    .catch((error) => {
      if (!isStaleWrite(error)) throw error;
    });
}

/** Does not wait longer than the signal lasts for a channel that does not listen to it. */
async function within<T>(work: (signal: AbortSignal) => Promise<T>, outer: AbortSignal): Promise<T> {
  const limit = AbortSignal.any([outer, AbortSignal.timeout(SEND_LIMIT_MS)]);
  return new Promise<T>((resolve, reject) => {
    const giveUp = () =>
      reject(
        new Error(outer.aborted ? "the gateway stopped during the call" : "the channel did not answer in time", { cause: limit.reason }),
      );
    if (limit.aborted) return giveUp();
    limit.addEventListener("abort", giveUp, { once: true });
    void (async () => work(limit))()
      .then(resolve, (error) => reject(error instanceof Error ? error : new Error(messageOf(error))))
      .finally(() => limit.removeEventListener("abort", giveUp));
  });
}
