import { randomUUID } from "node:crypto";
import { type Agents, type HttpCall, isSvcError, normalizedSessionKey } from "svc/sdk";
import { agentIdPattern, idFault, sharedErrors } from "svc/sdk/internal";
import { badRequest } from "./errors.ts";
import { decoded } from "./place.ts";

const invalidModel = "Invalid `model`. Use `svc` or `svc/<agentId>`.";
const reservedNamespaces = ["subagent:", "cron:", "acp:"];

export interface Target {
  agentId: string;
  sessionKey: string;
  /** True when nobody can continue this session. */
  isFresh: boolean;
}

/**
 * The agent named by `model`; undefined = the default agent. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function parseModel(model: string | undefined): string | undefined {
  if (model === undefined) return undefined;
  const name = model.trim().toLowerCase();
  if (name === "svc" || name === "svc/default") return undefined;
  const agentId = /^(?:svc\/|svc:|agent:)(.*)$/s.exec(name)?.[1];
  if (agentId === undefined || !agentIdPattern.test(agentId)) throw badRequest(invalidModel);
  return agentId;
}

/** Beginnings of the session keys of an endpoint: for a request that stands alone, and for those of a user. */
export interface SessionNames {
  fresh: string;
  user: string;
}

const chatSessions: SessionNames = { fresh: "openai:", user: "openai-user:" };

/**
 * Agent and session of a request. The header `x-svc-agent-id` wins over `model`, `x-svc-session-key` over `user`.
 * @throws {SvcError} `v1-bad-request`, `invalid-session-key`
 */
export function resolveTarget(
  agents: Agents,
  request: { model: string | undefined; user: string | undefined; headers: Headers },
  names = chatSessions,
): Target {
  const agentId = namedAgent(request);
  const header = request.headers.get("x-svc-session-key");
  const given = header === null ? null : decoded(header);
  const fault = given === null && request.user !== undefined ? idFault(request.user) : undefined;
  if (fault !== undefined) throw badRequest(`user: ${fault}`);
  const sessionKey = given ?? (request.user === undefined ? names.fresh + randomUUID() : names.user + request.user);
  const target = resolve(agents, { ...(agentId === undefined ? {} : { agentId }), sessionKey });
  if (given !== null && reservedNamespaces.some((name) => normalizedSessionKey(target.sessionKey).trimStart().startsWith(name))) {
    throw badRequest("`x-svc-session-key` cannot use reserved internal session namespaces.");
  }
  return { ...target, isFresh: given === null && request.user === undefined };
}

/**
 * The agent of a request without a session. The header `x-svc-agent-id` wins over `model`.
 * @throws {SvcError} `v1-bad-request`
 */
export function resolveAgent(agents: Agents, request: { model: string | undefined; headers: Headers }): string {
  const agentId = namedAgent(request);
  return resolve(agents, agentId === undefined ? {} : { agentId }).agentId;
}

function namedAgent({ model, headers }: { model: string | undefined; headers: Headers }): string | undefined {
  const named = parseModel(model);
  return headers.get("x-svc-agent-id")?.trim().toLowerCase() ?? named;
}

function resolve(agents: Agents, target: { agentId?: string; sessionKey?: string }): { agentId: string; sessionKey: string } {
  try {
    return agents.resolve(target);
  } catch (error) {
    if (isSvcError(error, "unknown-agent")) throw badRequest(`Unknown agent '${String(error.fields.agentId)}'.`);
    throw error;
  }
}

/** @throws {SvcError} `missing-scope` when a caller who may not do that names the backend model */
export function checkBackendModelScope({ req, scopes }: Pick<HttpCall, "req" | "scopes">): void {
  if (req.headers.has("x-svc-model") && !scopes.includes("operator.admin")) {
    throw sharedErrors.missingScope({ missingScope: "operator.admin", requiredScopes: ["operator.admin"] });
  }
}

/**
 * The backend model of the header `x-svc-model`: `provider/model`, a bare id or an alias.
 * @throws {SvcError} `v1-bad-request`
 */
export function parseBackendModel(header: string | null): string | undefined {
  if (header === null) return undefined;
  const model = header.trim();
  const isParsable = model.length <= 256 && /^[^\s/]+(\/[^\s/]+)*$/.test(model);
  if (!isParsable) throw badRequest("Invalid `x-svc-model`.");
  return model;
}
