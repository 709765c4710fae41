import { badRequest } from "../errors.ts";

export const MAX_KEY_CHARS = 256;

/** A request for one call of a tool, checked. */
export interface ToolsRequest {
  name: string;
  args: Record<string, unknown>;
  action: string | undefined;
  agentId: string | undefined;
  /** Undefined: the main session of the agent. */
  sessionKey: string | undefined;
  idempotencyKey: string | undefined;
  dryRun: boolean;
}

/**
 * Checks a request body; null counts as absent, unknown fields are ignored. Fields with authority are never read as if they were absent. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function parseToolsRequest(body: unknown): ToolsRequest {
  const fields = asObject(body) ?? {};
  const name = text(fields, "name") ?? text(fields, "tool");
  if (name === undefined) throw badRequest("tools.invoke requires name");
  const sessionKey = text(fields, "sessionKey");
  const idempotencyKey = text(fields, "idempotencyKey");
  if (idempotencyKey !== undefined && idempotencyKey.length > MAX_KEY_CHARS)
    throw badRequest(`idempotencyKey: expected at most ${MAX_KEY_CHARS} characters, received ${idempotencyKey.length}`);
  return {
    name,
    args: asObject(fields.args) ?? {},
    action: text(fields, "action"),
    agentId: text(fields, "agentId"),
    sessionKey: sessionKey === "main" ? undefined : sessionKey,
    idempotencyKey,
    dryRun: flag(fields, "dryRun"),
  };
}

function text(fields: Record<string, unknown>, name: string): string | undefined {
  const value = fields[name];
  if (value == null || value === "") return undefined;
  if (typeof value !== "string") throw badRequest(`${name}: expected string, received ${Array.isArray(value) ? "array" : typeof value}`);
  return value;
}

function flag(fields: Record<string, unknown>, name: string): boolean {
  const value = fields[name];
  if (value == null) return false;
  if (typeof value !== "boolean") throw badRequest(`${name}: expected true or false`);
  return value;
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}
