import { type DeliveryRow, isSvcError, type JsonObject, type MessageRoute, messageOf, type RunHandle, type RunOutcome } from "svc/sdk";
import { commitWhenAvailable, deliveryOwner, isStaleWrite, isUnchanged, reached, untilAvailable } from "svc/sdk/internal";
import { type GroupPolicy, groupOf, policyOf } from "../accounts/policy.ts";
import type { RunDisplay } from "../live/run-display.ts";
import { picturesOf } from "../media/pictures.ts";
import { isOwnersOwn, obey } from "./commands.ts";
import { finalText } from "./final-text.ts";
import { framedText } from "./framed-text.ts";
import type { InboundDeps } from "./inbound-deps.ts";
import { CHANNEL_NOTICE, decodeInbound, type Inbound, quotedBy, routeOf } from "./stored.ts";

/** Tries of a message whose run ended the process each time. */
export const MAX_ATTEMPTS = 3;
/** For giving a row back at a stop. */
const REQUEUE_MS = 1_500;

/** Codes by which an agent refuses a message for good: no try can help before the config changes. */
const refusals = ["unknown-agent", "invalid-session-key", "invalid-model", "model-not-allowed", "message-required"];

/** Sentence for the sender when there is no answer: what went wrong is for the operator. */
export const NO_ANSWER = "Sorry, I could not answer this message. Please try again later.";

export interface ProcessContext {
  deps: InboundDeps;
  /** Aborted when this instance stops: the row is given back. */
  signal: AbortSignal;
  /** Called when the run has taken the message, or it is known that none will: the next message of the session may go. */
  onHandedOver(): void;
  /** Called when the run is over; what follows calls no model. */
  onRan(): void;
}

interface Step extends ProcessContext {
  row: DeliveryRow;
  inbound: Inbound;
}

/** `unclaimed`: it could not even be claimed, and waits as before. */
export type Processed = "ended" | "open" | "unclaimed";

/** Claims a message, has it answered and ends its row. Never rejects. */
export async function processInbound(row: DeliveryRow, context: ProcessContext): Promise<Processed> {
  const { logger } = context.deps.ctx;
  let claimed: DeliveryRow | undefined;
  try {
    claimed = await claim(row, context);
    const inbound = decodeInbound(claimed);
    const hasEnded = inbound
      ? await answer({ ...context, row: claimed, inbound })
      : await fail({ ...context, row: claimed }, "failed", "what is stored of it cannot be read");
    return hasEnded ? "ended" : "open";
  } catch (error) {
    if (isStaleWrite(error)) {
      logger.debug("a message was taken over by another worker", { uid: row.uid });
      // One that lost its role is refused each claim.
      return claimed ? "open" : "unclaimed";
    }
    if (claimed) return (await onUnexpectedError({ ...context, row: claimed }, error)) ? "ended" : "open";
    if (!context.signal.aborted) logger.error(`message ${row.uid}: it could not be claimed`, { error: messageOf(error) });
    return "unclaimed";
  } finally {
    context.onHandedOver();
  }
}

/** `accepted` → `running` under our lease. */
async function claim(row: DeliveryRow, { deps, signal }: ProcessContext): Promise<DeliveryRow> {
  const { uid, attempt } = row;
  const isStored = async () => {
    const now = await deps.store().deliveries.get(uid);
    return now?.state === "running" && now.leaseBoot === deps.lease && now.attempt === attempt + 1;
  };
  const op = { op: "delivery.claim", uid, to: "running", attempt, leaseBoot: deps.lease, at: deps.ctx.clock.now() } as const;
  await commitWhenAvailable([op], { deps, signal, isStored });
  await reached("inbound.after-claim");
  return { ...row, attempt: attempt + 1, state: "running", leaseBoot: deps.lease };
}

/** @returns true when the row has ended */
async function answer(step: Step): Promise<boolean> {
  const { inbound, row, deps, signal } = step;
  if (inbound.command && inbound.command.rest === "") {
    await obey({ row, deps, signal, inbound, tools: groupFor(inbound, deps)?.tools });
    await finish(step, { status: "ok" });
    return true;
  }
  let handle: RunHandle;
  try {
    handle = await begin(step);
  } catch (error) {
    if (signal.aborted || !isSvcError(error) || !refusals.includes(error.code)) throw error;
    return fail(step, "failed", error.message);
  }
  const display = deps.display({ row, inbound, handle });
  try {
    return await follow(step, handle, display);
  } finally {
    await display.close();
  }
}

/** Waits for the end of a run, and makes sure of what follows from it. */
async function follow(step: Step, handle: RunHandle, display: RunDisplay): Promise<boolean> {
  const { row, inbound, deps, signal } = step;
  await reached("inbound.after-run-accepted");
  step.onHandedOver();
  if (inbound.setsRoute) await noteRoute(step);
  const outcome = await whileGoing(handle.done, signal);
  void display.ran();
  await reached("inbound.after-run");
  if (outcome.code === "INTERRUPTED" || outcome.stopReason === "shutdown") throw new Interrupted();
  step.onRan();
  await untilAvailable(() => deliverAnswer(step, outcome), signal, deps).catch((error: unknown) => {
    signal.throwIfAborted();
    // No channel takes it: the answer stays in its session.
    deps.ctx.logger.warn(`message ${row.uid}: its answer could not be queued`, { channel: inbound.channel, error: messageOf(error) });
  });
  if (!isSilentEnd(outcome)) await display.settle();
  await reached("inbound.before-finish");
  await finish(step, outcome);
  return true;
}

/** The gateway or its agents ended during the run: the same run goes on with the next try. */
class Interrupted extends Error {}

/** Hands the message to its agent; a session at work makes it wait, or takes it into the turn, as `messages.queue` says. */
async function begin({ row, inbound, deps, signal }: Step): Promise<RunHandle> {
  const { agentId, sessionKey } = inbound;
  const group = groupFor(inbound, deps);
  const attachments = await picturesOf(inbound.files, deps.media);
  return untilAvailable(
    () =>
      deps.agents().run({
        runId: row.uid,
        resume: true,
        agentId,
        sessionKey,
        message: framedText(inbound),
        ...(attachments.length > 0 ? { attachments } : {}),
        trigger: "user",
        sender: { ...inbound.sender, channel: inbound.channel },
        ...(inbound.command ? { transcript: "fresh" as const } : {}),
        deliver: true,
        deliverTo: answerTo({ row, inbound }),
        extraSystem: [CHANNEL_NOTICE, ...(group?.systemPrompt === undefined ? [] : [group.systemPrompt])].join("\n\n"),
        ...(group?.tools ? { tools: group.tools } : {}),
        ...(isOwnersOwn(inbound, deps) ? { isOwner: true } : {}),
        actor: { kind: "channel", scopes: [] },
      }),
    signal,
    deps,
  );
}

/** Destination of an answer, and the message that it answers. */
function answerTo({ row, inbound }: Pick<Step, "row" | "inbound">): MessageRoute & { replyToId?: string } {
  return { ...routeOf(inbound), ...quotedBy(row) };
}

function groupFor({ channel, accountId, room }: Inbound, { ctx }: InboundDeps): GroupPolicy | undefined {
  // Ids were folded for the key of the session, not here.
  return room && groupOf(policyOf(ctx.snapshot(), channel, accountId), room.id, false);
}

/** Remembers where the session last heard from somebody. It is a convenience: a session that is gone, or a storage that is away, stops nothing. */
async function noteRoute({ inbound, deps, row }: Step): Promise<void> {
  const lastRoute = routeOf(inbound);
  try {
    const before = (await deps.store().sessions.get(inbound.sessionKey))?.lastRoute;
    if (before && JSON.stringify(before) === JSON.stringify(lastRoute)) return;
    await deps.store().commit([{ op: "session.patch", key: inbound.sessionKey, patch: { lastRoute } }]);
  } catch (error) {
    deps.ctx.logger.warn(`message ${row.uid}: the last route of its session could not be stored`, { error: messageOf(error) });
  }
}

/**
 * Makes sure that the answer is in the queue: the run has put it there, unless the process ended between the two. Under the same uid it is the same message. A message
 * that was answered by the turn of another needs none.
 */
async function deliverAnswer({ row, inbound, deps }: Step, outcome: RunOutcome): Promise<void> {
  if (outcome.mergedInto !== undefined || isSilentEnd(outcome)) return;
  const uid = `${row.uid}:out`;
  if (await deps.store().deliveries.get(uid)) return;
  const text = outcome.status === "ok" ? await finalText(row.uid, deps.store()) : NO_ANSWER;
  if (text.trim() === "") return;
  const { agentId, sessionKey } = inbound;
  await deps.deliver({ ...answerTo({ row, inbound }), uid, agentId, sessionKey, text, origin: "chat" });
}

/** Somebody stopped the run, or a newer message took its place: whoever did knows. */
function isSilentEnd({ status, code }: RunOutcome): boolean {
  return status === "error" && code === "ABORTED";
}

/** `running` → `done`. */
async function finish({ row, deps, signal }: Step, { status, code }: Pick<RunOutcome, "status" | "code">): Promise<void> {
  const result: JsonObject = { status, ...(code === undefined ? {} : { code }) };
  const op = {
    op: "delivery.finish",
    uid: row.uid,
    from: ["running"],
    ...deliveryOwner(row),
    state: "done",
    result,
    at: deps.ctx.clock.now(),
  } as const;
  await commitWhenAvailable([op], { deps, signal, isStored: async () => (await deps.store().deliveries.get(row.uid))?.state === "done" });
  await reached("inbound.after-finish");
}

type Ending = Pick<Step, "row" | "deps" | "signal">;

/**
 * Ends a row that will not be answered, with a note in its session and, unless it is too late for that, a sentence for the sender. They come first, so that no kill
 * leaves an end without them; but not for a row that somebody else has by now.
 * @returns true when the row was ended here
 */
export async function fail({ row, deps, signal }: Ending, state: "failed" | "expired", reason: string): Promise<boolean> {
  const { uid } = row;
  const now = await untilAvailable(() => deps.store().deliveries.get(uid), signal, deps);
  if (!isUnchanged(row, now)) return false;
  const inbound = decodeInbound(row);
  if (inbound && state === "failed") await apologize({ row, deps, signal }, inbound);
  if (inbound) await leaveNote({ row, deps, signal }, inbound, `${state === "expired" ? "it waited too long" : "it failed"}: ${reason}`);
  const result = { status: state, reason };
  const op = {
    op: "delivery.finish",
    uid,
    from: ["accepted", "running"],
    ...deliveryOwner(row),
    state,
    result,
    at: deps.ctx.clock.now(),
  } as const;
  await commitWhenAvailable([{ ...op, from: [...op.from] }], {
    deps,
    signal,
    isStored: async () => (await deps.store().deliveries.get(uid))?.state === state,
  });
  deps.ctx.logger.warn(`message ${uid} from ${inbound?.channel ?? "a channel"} was not answered`, { state, reason });
  return true;
}

/** Tells the sender that there is no answer, unless the run has put one into the queue. */
async function apologize({ row, deps, signal }: Ending, inbound: Inbound): Promise<void> {
  const { agentId, sessionKey } = inbound;
  const message = { ...answerTo({ row, inbound }), uid: `${row.uid}:out`, agentId, sessionKey, text: NO_ANSWER, origin: "chat" as const };
  try {
    await untilAvailable(() => deps.deliver(message), signal, deps);
  } catch (error) {
    signal.throwIfAborted();
    deps.ctx.logger.warn(`message ${row.uid}: its sender could not be told`, { channel: inbound.channel, error: messageOf(error) });
  }
}

async function leaveNote({ row, deps, signal }: Ending, { agentId, sessionKey, label }: Inbound, what: string): Promise<void> {
  const note = { agentId, sessionKey, id: `${row.uid}:note`, text: `A message from ${label} was not answered; ${what}`, label: "delivery" };
  try {
    await untilAvailable(() => deps.agents().inject(note), signal, deps);
  } catch (error) {
    signal.throwIfAborted();
    // Its agent is gone, for one: the log has to do.
    deps.ctx.logger.warn(`message ${row.uid}: its note could not be stored`, { error: messageOf(error) });
  }
}

/** @returns true when the row has ended */
async function onUnexpectedError(step: Ending, error: unknown): Promise<boolean> {
  const { row, deps, signal } = step;
  const { logger } = deps.ctx;
  try {
    if (!signal.aborted && !(error instanceof Interrupted)) {
      logger.error(`message ${row.uid}: unexpected error`, { error: messageOf(error) });
      if (row.attempt >= MAX_ATTEMPTS) {
        return await fail(step, "failed", "an unexpected error, see the log");
      }
      await requeue(step, { attempt: row.attempt, waitMs: row.attempt * 5_000, signal });
      return false;
    }
    // Nothing has failed: this instance or its agents go away, and the attempt does not count.
    await requeue(step, { attempt: row.attempt - 1, waitMs: signal.aborted ? 0 : 1_000, signal: AbortSignal.timeout(REQUEUE_MS) });
  } catch (again) {
    logger.warn(`message ${row.uid}: it stays claimed until the next start`, { error: messageOf(again) });
  }
  return false;
}

async function requeue({ row, deps }: Ending, to: { attempt: number; waitMs: number; signal: AbortSignal }): Promise<void> {
  const at = deps.ctx.clock.now();
  const op = {
    op: "delivery.requeue",
    uid: row.uid,
    from: ["running"],
    ...deliveryOwner(row),
    attempt: to.attempt,
    notBefore: at + to.waitMs,
    result: { ...row.result, reason: "the gateway stopped while it was answered" },
    at,
  } as const;
  const isStored = async () => (await deps.store().deliveries.get(row.uid))?.state !== "running";
  await commitWhenAvailable([{ ...op, from: [...op.from] }], { deps, signal: to.signal, isStored });
}

/** Waits for the end of a run, but no longer than this instance lives. */
function whileGoing<T>(done: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
