import { isSvcError, type JsonObject, limits, type QueueMode } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { resetSession } from "../sessions/changes.ts";
import { createSession } from "../sessions/create.ts";
import { present } from "../sessions/find.ts";
import { patchOp } from "./writes.ts";

/** Answers are known for longer than the protocol promises. */
const ANSWER_TTL_MS = 2 * limits.idempotencyTtlMs;

const queueModes = ["collect", "followup", "steer", "interrupt"] as const satisfies readonly QueueMode[];

/** True for a message that begins a new transcript; such a message needs `operator.admin`. */
export function isResetMessage(triggers: readonly string[], message: string): boolean {
  return splitReset(triggers, message) !== undefined;
}

/**
 * A message that begins with a trigger (`session.resetTriggers`: `/new`, `/reset`), and what follows it. A trigger ends where its word does: `/newer` is none.
 * Any trigger other than `/new` counts as a reset.
 */
export function splitReset(triggers: readonly string[], message: string): { reason: "new" | "reset"; rest: string } | undefined {
  const matching = triggers.filter((t) => message.startsWith(t) && !(/\w$/.test(t) && /^\w/.test(message.slice(t.length, t.length + 1))));
  if (matching.length === 0) return undefined;
  const trigger = matching.reduce((longest, t) => (t.length > longest.length ? t : longest));
  return { reason: trigger === "/new" ? "new" : "reset", rest: message.slice(trigger.length).trim() };
}

export function isStopMessage(message: string): boolean {
  return /^\/stop\s*$/.test(message);
}

/**
 * The mode that `/queue <mode>` asks for; null for `/queue default`; undefined for another message.
 * @throws {SvcError} `invalid-queue-mode`
 */
export function queueModeAsked(message: string): QueueMode | null | undefined {
  const asked = /^\/queue(?:\s+(\S+))?\s*$/.exec(message);
  if (!asked) return undefined;
  const word = asked[1]?.toLowerCase() ?? "";
  if (word === "default") return null;
  const mode = queueModes.find((m) => m === word);
  if (mode) return mode;
  throw agentErrors.invalidQueueMode({ mode: asked[1] ?? "", expected: `${queueModes.join(", ")} or default` });
}

/** A message that is no run. Its key is remembered with its answer, so that a repeat does nothing again. */
export interface Command {
  family: "agent" | "chat";
  key: string;
  agentId: string;
  sessionKey: string;
}

/** A bare `/new`. */
export async function resetByMessage(kit: Kit, command: Command & { reason: "new" | "reset" }): Promise<JsonObject> {
  const { key, agentId, sessionKey, reason } = command;
  const result = { payloads: [], meta: { durationMs: 0 } };
  const value = { runId: key, status: "ok", summary: "session reset", sessionKey, agentId, result };
  try {
    await resetSession(kit, sessionKey, { reason, create: { agentId }, more: [answerOp(kit, command, value)] });
    return value;
  } catch (error) {
    return await answeredMeanwhile(kit, command, error);
  }
}

/** `/queue <mode>`. */
export async function queueByMessage(kit: Kit, command: Command & { mode: QueueMode | null }): Promise<JsonObject> {
  const { key, agentId, sessionKey, mode } = command;
  const value = { runId: key, status: "ok", queueMode: mode };
  await createSession(kit, { key: sessionKey, agentId });
  return kit.sessionLock.run(sessionKey, async () => {
    const row = await kit.store().sessions.get(sessionKey);
    if (!row) throw agentErrors.unknownSession({ key: sessionKey });
    try {
      await kit.store().commit([patchOp(sessionKey, { queueMode: mode }, row.sessionId), answerOp(kit, command, value)]);
    } catch (error) {
      return await answeredMeanwhile(kit, command, error);
    }
    kit.events.sessionChanged((await present(kit, sessionKey)) ?? row, { reason: "patch" });
    return value;
  });
}

/** Remembers what a command answered. @returns the answer, or the one that the key has already */
export async function rememberAnswer(kit: Kit, command: Command, value: JsonObject): Promise<JsonObject> {
  try {
    await kit.store().commit([answerOp(kit, command, value)]);
    return value;
  } catch (error) {
    return await answeredMeanwhile(kit, command, error);
  }
}

/** The stored answer of a command under this key. */
export async function answeredCommand(kit: Pick<Kit, "store">, family: Command["family"], key: string): Promise<JsonObject | undefined> {
  return (await kit.store().idempotency.get(family, key))?.value;
}

function answerOp(kit: Kit, { family, key }: Command, value: JsonObject) {
  const createdAt = kit.ctx.clock.now();
  return { op: "idempotency.put" as const, row: { family, key, value, createdAt, expiresAt: createdAt + ANSWER_TTL_MS }, ifAbsent: true };
}

async function answeredMeanwhile(kit: Kit, { family, key }: Command, error: unknown): Promise<JsonObject> {
  const answered = isSvcError(error, "exists") ? await answeredCommand(kit, family, key) : undefined;
  if (answered) return answered;
  throw error;
}
