import { cleanExternalLine, cutEnd, isRecord, type PluginContext } from "svc/sdk";
import { ask } from "./approval.ts";
import type { ElicitAnswer, ElicitRequest } from "./library.ts";

const MAX_FIELDS = 32;

/**
 * Puts a question that a server has for the person behind the client to whoever may approve, who can only say yes or no: yes answers with the defaults that the
 * server gave itself. A question that needs anything more, and one that nobody answers, is declined.
 */
export async function answerElicitation(
  ctx: PluginContext,
  server: string,
  { params }: ElicitRequest,
  place: { agentId?: string; sessionKey?: string; signal: AbortSignal },
): Promise<ElicitAnswer> {
  const { signal, ...asked } = place;
  const content = params.mode === undefined || params.mode === "form" ? defaultsOf(params.requestedSchema) : undefined;
  if (!content) {
    ctx.logger.info(`MCP server "${server}": a question that a yes or a no does not answer was declined`);
    return { action: "decline" };
  }
  const values = Object.keys(content).length === 0 ? "" : ` Yes answers: ${JSON.stringify(content)}`;
  const request = {
    title: cutEnd(`MCP server ${server} asks`, 80),
    description: cutEnd(cleanExternalLine(`${params.message}${values}`, 500) || "(nothing)", 512),
    severity: "warning" as const,
    ...asked,
    allowedDecisions: ["allow-once", "deny"] as const,
  };
  const { decision } = await ask(ctx, request, signal);
  return decision === "allow-once" ? { action: "accept", content } : { action: "decline" };
}

/** Values that a form has by itself; undefined where a required field has none. Pure. */
export function defaultsOf(schema: unknown): Record<string, unknown> | undefined {
  if (schema === undefined) return {};
  if (!isRecord(schema)) return undefined;
  const fields = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  if (fields.length > MAX_FIELDS) return undefined;
  const given = fields.flatMap(
    ([name, field]): Array<[string, unknown]> => (isRecord(field) && isPlain(field.default) ? [[name, field.default]] : []),
  );
  const values = Object.fromEntries(given);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return required.every((name) => typeof name === "string" && Object.hasOwn(values, name)) ? values : undefined;
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.length <= MAX_FIELDS && value.every((one) => typeof one === "string");
  return ["string", "number", "boolean"].includes(typeof value);
}
