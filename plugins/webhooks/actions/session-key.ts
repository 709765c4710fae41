import { randomUUID } from "node:crypto";
import { type Agents, isSvcError } from "svc/sdk";
import { idFault, isWellFormed } from "svc/sdk/internal";
import type { HooksConfig } from "../action.ts";
import { invalid } from "./refusal.ts";

/**
 * Where a key comes from: payloads (and transforms, which see nothing else) need the operator's leave, mappings have it. `literal`: what stands before
 * the first placeholder of a templated one.
 */
export type KeyOrigin = { from: "payload" } | { from: "mapping"; literal?: string };

type KeyPolicy = Pick<HooksConfig, "allowRequestSessionKey" | "allowedSessionKeyPrefixes" | "defaultSessionKey">;

/** A key in its full form, and what it was made of. */
export interface SessionTarget {
  sessionKey: string;
  /** Made for this one request: another request would have another. */
  isFresh: boolean;
}

const MAX_KEY_CHARS = 256;
const reserved = ["subagent:", "cron:", "acp:", "agent:"];
const fullKey = /^agent:[^:]*:/i;

/**
 * The session of a run: the key that was named, else the configured one, else a new one.
 * @throws {SvcError} `hook-invalid`
 */
export function agentSession(
  named: string | undefined,
  options: { origin: KeyOrigin; agentId: string; policy: KeyPolicy; agents: Pick<Agents, "resolve"> },
): SessionTarget {
  if (named !== undefined) return { sessionKey: namedSession(named, options), isFresh: false };
  const standard = options.policy.defaultSessionKey?.trim();
  return { sessionKey: canonical(standard ?? `hook:${randomUUID()}`, options), isFresh: standard === undefined };
}

/**
 * The full form of a key that was named, after every rule for it. What is judged is the key that will be used, not the one that was written.
 * @throws {SvcError} `hook-invalid`
 */
export function namedSession(
  written: string,
  options: { origin: KeyOrigin; agentId: string; policy: KeyPolicy; agents: Pick<Agents, "resolve"> },
): string {
  const { origin, policy } = options;
  const key = written.trim();
  if (key === "") {
    throw invalid(origin.from === "mapping" ? "hook mapping sessionKey template rendered empty" : "sessionKey must be a non-empty string");
  }
  if (origin.from === "payload" && !policy.allowRequestSessionKey) {
    throw invalid("sessionKey is disabled for externally supplied hook payload values; set hooks.allowRequestSessionKey=true to enable");
  }
  const full = canonical(key, options);
  checkPrefix(key, full, effectivePrefixes(policy));
  if (origin.from === "mapping" && origin.literal !== undefined) checkLiteral(restOf(full), origin.literal, policy);
  return full;
}

/** Prefixes that limit something: blank entries do not count. */
export function effectivePrefixes({ allowedSessionKeyPrefixes = [] }: Pick<KeyPolicy, "allowedSessionKeyPrefixes">): string[] {
  return allowedSessionKeyPrefixes.map((prefix) => prefix.trim().toLowerCase()).filter((prefix) => prefix !== "");
}

/** The part of a literal that is left when a key is put below its agent; empty when the payload would decide about all that counts. */
export function bindingLiteral(literal: string): string {
  const text = literal.trimStart().toLowerCase();
  const rest = text.replace(fullKey, "");
  return rest === text && text.startsWith("agent:") ? "" : rest;
}

function canonical(key: string, { agentId, agents }: { agentId: string; agents: Pick<Agents, "resolve"> }): string {
  if (!isWellFormed(key)) throw invalid("sessionKey must not hold lone surrogates (halves of a character)");
  if (key.length > MAX_KEY_CHARS || idFault(key) !== undefined) {
    throw invalid(`sessionKey must have at most ${MAX_KEY_CHARS} characters and no control characters`);
  }
  const rest = key.replace(fullKey, "");
  if (rest.trim() === "") throw invalid("sessionKey must be a non-empty string");
  if (reserved.some((prefix) => rest.trimStart().toLowerCase().startsWith(prefix))) throw invalid("sessionKey uses a reserved namespace");
  try {
    return agents.resolve({ agentId, sessionKey: `agent:${agentId}:${rest.trimStart()}` }).sessionKey;
  } catch (error) {
    if (isSvcError(error, "invalid-session-key")) throw invalid(error.message);
    throw error;
  }
}

/** A short key must begin with a prefix below its agent; one that was written in full may also match as a whole. */
function checkPrefix(key: string, full: string, prefixes: readonly string[]): void {
  if (prefixes.length === 0) return;
  const forms = [restOf(full), ...(fullKey.test(key) ? [full] : [])].map((form) => form.toLowerCase());
  if (prefixes.some((prefix) => forms.some((form) => form.startsWith(prefix)))) return;
  throw invalid(`sessionKey must start with one of: ${prefixes.join(", ")}`);
}

/** Payload text may end a templated key, never begin it. */
function checkLiteral(rest: string, literal: string, policy: KeyPolicy): void {
  const text = bindingLiteral(literal);
  const isBound = text !== "" || effectivePrefixes(policy).length > 0;
  if (!isBound || !rest.toLowerCase().startsWith(text)) throw invalid("sessionKey must start with the literal text of its template");
}

function restOf(full: string): string {
  return full.replace(fullKey, "");
}
