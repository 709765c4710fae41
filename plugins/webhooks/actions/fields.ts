import type { WakeMode } from "svc/sdk";
import { idFault } from "svc/sdk/internal";
import { invalid } from "./refusal.ts";

/** Fields of an action as a payload, a mapping or a transform gives them. Absent is absent; anything else of a wrong type is refused, `null` as well. */
export type Fields = Readonly<Record<string, unknown>>;

/** Fields of `POST /hooks/agent`, checked for themselves. */
export interface AgentFields {
  message: string;
  name: string;
  agentId?: string;
  sessionKey?: string;
  wakeMode: WakeMode;
  deliver: boolean;
  channel: string;
  to?: string;
  model?: string;
  thinking?: string;
  timeoutMs?: number;
  sessionMode: "isolated" | "persistent";
}

/** Fields of `POST /hooks/wake`, checked for themselves. */
export interface WakeFields {
  text: string;
  mode: WakeMode;
  agentId?: string;
  sessionKey?: string;
}

const DEFAULT_NAME = "Hook";
const MAX_NAME_CHARS = 500;
/** A longer run would outlive the row that stands for it. */
const MAX_TIMEOUT_SECONDS = 86_400;

/** @param missing answer when there is no message @throws {SvcError} `hook-invalid` */
export function readAgentFields(fields: Fields, missing = "message required"): AgentFields {
  return {
    message: requiredText(own(fields, "message"), missing),
    name: nameOf(own(fields, "name")),
    ...optional("agentId", namedText(fields, "agentId")),
    ...optional("sessionKey", keyText(fields)),
    wakeMode: modeOf(fields, "wakeMode"),
    deliver: flag(fields, "deliver", true),
    channel: channelText(own(fields, "channel")),
    ...optional("to", recipientText(fields)),
    ...optional("model", modelText(own(fields, "model"))),
    ...optional("thinking", thinkingText(own(fields, "thinking"))),
    ...optional("timeoutMs", timeoutOf(own(fields, "timeoutSeconds"))),
    sessionMode: sessionModeOf(fields),
  };
}

/** @param missing answer when there is no text @throws {SvcError} `hook-invalid` */
export function readWakeFields(fields: Fields, missing = "text required"): WakeFields {
  const text = requiredText(own(fields, "text"), missing);
  const mode = modeOf(fields, "mode");
  const sessionKey = keyText(fields);
  // Nothing comes round to a session that is not the agent's own.
  if (sessionKey !== undefined && mode === "next-heartbeat") throw invalid("sessionKey requires mode=now");
  return { text, mode, ...optional("agentId", namedText(fields, "agentId")), ...optional("sessionKey", sessionKey) };
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function optional<K extends string, V>(name: K, value: V | undefined): { [Name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [Name in K]?: V });
}

function requiredText(value: unknown, missing: string): string {
  const text = typeof value === "string" ? value.trim() : "";
  if (text === "") throw invalid(missing);
  return text;
}

function namedText(fields: Fields, name: string): string | undefined {
  const value = own(fields, name);
  return value === undefined ? undefined : requiredText(value, `${name} must be a non-empty string`);
}

function recipientText(fields: Fields): string | undefined {
  const to = namedText(fields, "to");
  const fault = to === undefined ? undefined : idFault(to);
  if (fault !== undefined) throw invalid(`to: ${fault}`);
  return to;
}

/** Not trimmed to nothing here: an empty key of a template has an answer of its own. */
function keyText(fields: Fields): string | undefined {
  const value = own(fields, "sessionKey");
  if (value !== undefined && typeof value !== "string") throw invalid("sessionKey must be a non-empty string");
  return value?.trim();
}

function nameOf(value: unknown): string {
  if (value === undefined) return DEFAULT_NAME;
  if (typeof value !== "string") throw invalid("name must be a string");
  const name = value.replace(/[\p{Cc}\u2028\u2029]/gu, " ").trim();
  const end = name.length > MAX_NAME_CHARS && isHighSurrogate(name.charCodeAt(MAX_NAME_CHARS - 1)) ? MAX_NAME_CHARS - 1 : MAX_NAME_CHARS;
  return name.slice(0, end) || DEFAULT_NAME;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function modeOf(fields: Fields, name: "mode" | "wakeMode"): WakeMode {
  const value = own(fields, name);
  if (value === undefined) return "now";
  if (value !== "now" && value !== "next-heartbeat") throw invalid(`${name} must be now|next-heartbeat`);
  return value;
}

function flag(fields: Fields, name: string, standard: boolean): boolean {
  const value = own(fields, name);
  if (value === undefined) return standard;
  if (typeof value !== "boolean") throw invalid(`${name} must be boolean`);
  return value;
}

/** Whatever cannot be a channel is refused with the list of those that there are. */
function channelText(value: unknown): string {
  if (value === undefined) return "last";
  return typeof value === "string" ? value.trim().toLowerCase() : "";
}

function modelText(value: unknown): string | undefined {
  return value === undefined ? undefined : requiredText(value, "model required");
}

function thinkingText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid("thinking must be a string");
  return value.trim().toLowerCase();
}

function timeoutOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const seconds = typeof value === "number" && Number.isFinite(value) ? Math.floor(value) : 0;
  if (seconds < 1) throw invalid("timeoutSeconds must be a positive number");
  return Math.min(seconds, MAX_TIMEOUT_SECONDS) * 1_000;
}

function sessionModeOf(fields: Fields): AgentFields["sessionMode"] {
  const value = own(fields, "sessionMode");
  if (value === undefined) return "isolated";
  if (value !== "isolated" && value !== "persistent") throw invalid("sessionMode must be isolated|persistent");
  if (value === "persistent" && own(fields, "sessionKey") === undefined) throw invalid("sessionMode=persistent requires sessionKey");
  return value;
}
