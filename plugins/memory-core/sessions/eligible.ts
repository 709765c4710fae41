import { EMBEDDED_PROVIDER_ID, type MessageRow, normalizedSessionKey, type SessionRow } from "svc/sdk";
import type { TranscriptMessage } from "../worker-protocol.ts";

/** First words of session keys whose runs nobody talked to: jobs, incoming hooks, and what plugins do on their own. */
const machineKeys = new Set(["cron", "hook", "heartbeat", "dreaming", "acp"]);
/** The same anywhere in a key: runs that a plugin begins beside a conversation. */
const machineParts = new Set(["active-memory", "dreaming", "heartbeat"]);
/** Records that the gateway wrote itself. */
const machineKinds = new Set(["heartbeat", "system-event", "compaction"]);

/** True for a session whose transcript belongs into the memory of its agent. */
export function isRemembered({ key, agentId }: Pick<SessionRow, "key" | "agentId">): boolean {
  if (!key.startsWith(`agent:${agentId}:`)) return false;
  const parts = normalizedSessionKey(key).split(":");
  return !machineKeys.has(parts[0] ?? "") && !parts.some((part) => machineParts.has(part));
}

/**
 * True for a record of a run that no person began, and for an answer of the built-in model: it quotes notes, which are indexed already, and says how to
 * add a language model. @param triggerOf what began a run, as long as that is known
 */
export function isOfMachine({ kind, provider, runId }: MessageRow, triggerOf: (runId: string) => string | undefined): boolean {
  if (provider === EMBEDDED_PROVIDER_ID || (kind !== undefined && machineKinds.has(kind))) return true;
  const trigger = runId === undefined ? undefined : triggerOf(runId);
  return trigger !== undefined && trigger !== "user";
}

/** Longest text of one message that is indexed; beyond it hardly anybody wrote it by hand. */
const MAX_MESSAGE_CHARS = 200_000;

/** Text of a record; undefined for tool results and records without words. Rows may be of an older make, so nothing is taken for granted. */
export function toTranscriptMessage({ seq, role, content, ts }: MessageRow): TranscriptMessage | undefined {
  if (role !== "user" && role !== "assistant") return undefined;
  const text = textOf(content).slice(0, MAX_MESSAGE_CHARS);
  return text.trim() === "" ? undefined : { seq, role, text, ts: Number.isFinite(ts) ? ts : 0 };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = (content as unknown[]).map((block) => {
    if (typeof block !== "object" || block === null) return "";
    const { type, text } = block as { type?: unknown; text?: unknown };
    return type === "text" && typeof text === "string" ? text : "";
  });
  return texts.filter((text) => text !== "").join("\n");
}
