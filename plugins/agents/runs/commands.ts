import { isSvcError, type JsonObject } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { resetSession } from "../sessions/changes.ts";
import { IDEMPOTENCY_TTL_MS } from "./finish.ts";

const resetPattern = /^\/(new|reset)\b/;

/** True for a message that begins a new transcript; such a message needs `operator.admin`. */
export function isResetMessage(message: string): boolean {
  return resetPattern.test(message);
}

/** `/new` or `/reset`, and what follows it. */
export function splitReset(message: string): { reason: "new" | "reset"; rest: string } | undefined {
  const reason = resetPattern.exec(message)?.[1];
  if (reason !== "new" && reason !== "reset") return undefined;
  return { reason, rest: message.slice(reason.length + 1).trim() };
}

export function isStopMessage(message: string): boolean {
  return /^\/stop\s*$/.test(message);
}

/** A bare `/new` is no run; its key is remembered so that a repeat resets nothing. */
export async function resetByMessage(
  kit: Kit,
  command: { family: "agent" | "chat"; key: string; agentId: string; sessionKey: string; reason: "new" | "reset" },
): Promise<JsonObject> {
  const { family, key, agentId, sessionKey, reason } = command;
  const createdAt = kit.ctx.clock.now();
  const value = {
    runId: key,
    status: "ok",
    summary: "session reset",
    sessionKey,
    agentId,
    result: { payloads: [], meta: { durationMs: 0 } },
  };
  const row = { family, key, value, createdAt, expiresAt: createdAt + IDEMPOTENCY_TTL_MS };
  try {
    await resetSession(kit, sessionKey, { reason, create: { agentId }, more: [{ op: "idempotency.put", row, ifAbsent: true }] });
    return value;
  } catch (error) {
    const answered = isSvcError(error, "exists") ? answeredReset(kit, family, key) : undefined;
    if (answered) return answered;
    throw error;
  }
}

/** The stored answer of a bare `/new` under this key. */
export function answeredReset(kit: Kit, family: "agent" | "chat", key: string): JsonObject | undefined {
  const value = kit.store().idempotency.get(family, key)?.value;
  return value?.status === "ok" ? value : undefined;
}
