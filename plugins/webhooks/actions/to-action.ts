import { hash } from "node:crypto";
import { type Agents, type Messaging, wrapExternal } from "svc/sdk";
import type { AgentAction, HooksConfig, WakeAction } from "../action.ts";
import { MAX_PAYLOAD_BYTES } from "../deliveries/stored-action.ts";
import { type AgentRoute, routeAgent } from "./agent-route.ts";
import type { Draft } from "./draft.ts";
import { actionErrors } from "./errors.ts";
import { type Fields, readAgentFields, readWakeFields } from "./fields.ts";
import { frameParts, sourceLabel } from "./frame.ts";
import { agentSession, namedSession } from "./session-key.ts";
import { countSuspicious } from "./suspicious.ts";
import { checkChannel, checkModel, checkThinking } from "./target-checks.ts";

/** Services that rules are asked of. */
export interface ActionDeps {
  hooks: HooksConfig;
  agents: Pick<Agents, "list" | "resolve" | "checkModel">;
  /** Absent: nobody carries messages; `last` and `webchat` may be named all the same. */
  messaging: Pick<Messaging, "channels" | "channelOf"> | undefined;
  /** Warnings about this request for the log. */
  warnings: string[];
}

/**
 * Applies every rule for hook actions to a draft: fields, agent, session, target, size.
 * @throws {SvcError} `hook-invalid`, `hook-too-large`; what agents throw when they are down
 */
export function toAction(draft: Draft, deps: ActionDeps): Promise<AgentAction> | WakeAction {
  return draft.kind === "agent" ? toAgentAction(draft, deps) : toWakeAction(draft, deps);
}

async function toAgentAction(draft: Draft, deps: ActionDeps): Promise<AgentAction> {
  const fields = readAgentFields(draft.fields, draft.mapping === undefined ? undefined : "hook mapping requires message");
  const { message, name, agentId: _, sessionKey: named, channel, model, thinking, ...rest } = fields;
  checkSize(message);
  const { agentId, isFallback } = routeOf(fields, deps);
  const { sessionKey, isFresh } = agentSession(named, { origin: draft.keyOrigin, agentId, policy: deps.hooks, agents: deps.agents });
  const target = {
    ...rest,
    channel: checkChannel(channel, deps.messaging),
    ...(model === undefined ? {} : { model: await checkModel(model, agentId, deps.agents) }),
    ...checkThinking(thinking, deps.warnings),
  };
  const told = { kind: draft.kind, mapping: draft.mapping, agentId, message, name, ...target, ...(isFresh ? {} : { sessionKey }) };
  const fingerprint = fingerprintOf({ ...told, ...timeless(draft.timeless) });
  const action: AgentAction = {
    ...originOf(draft),
    kind: "agent",
    agentId,
    isFallbackAgent: isFallback,
    fingerprint,
    sessionKey,
    name,
    ...target,
    message: draft.isFramed ? wrapExternal(message, { source: sourceLabel({ ...draft, sessionKey }), task: name }) : message,
  };
  if (draft.isFramed) countInto(deps.warnings, message);
  checkSize(action);
  return action;
}

function toWakeAction(draft: Draft, deps: ActionDeps): WakeAction {
  const fields = readWakeFields(draft.fields, draft.mapping === undefined ? undefined : "hook mapping requires text");
  const { text, mode, sessionKey: named } = fields;
  checkSize(text);
  const { agentId, isFallback } = routeOf(fields, deps);
  const options = { origin: draft.keyOrigin, agentId, policy: deps.hooks, agents: deps.agents };
  const session = named === undefined ? {} : { sessionKey: namedSession(named, options) };
  const meta = { source: sourceLabel({ isMail: draft.isMail, ...session }), ...(draft.task === undefined ? {} : { task: draft.task }) };
  const action: WakeAction = {
    ...originOf(draft),
    kind: "wake",
    agentId,
    isFallbackAgent: isFallback,
    mode,
    ...session,
    // Made when it is asked for: a wake comes without a key, so hardly anybody does.
    get fingerprint() {
      const told = { kind: draft.kind, mapping: draft.mapping, agentId, text, mode, ...session };
      return fingerprintOf({ ...told, ...timeless(draft.timeless) });
    },
    same: text,
    text: draft.isFramed ? frameParts(draft.parts ?? [{ text, isExternal: true }], meta) : text,
  };
  if (draft.isFramed) countInto(deps.warnings, text);
  checkSize(action.text);
  return action;
}

function routeOf(fields: { agentId?: string; sessionKey?: string }, { hooks, agents }: ActionDeps): AgentRoute {
  const { allowedAgentIds } = hooks;
  return routeAgent(fields, { agents, ...(allowedAgentIds === undefined ? {} : { allowedAgentIds }) });
}

function originOf({ path, mapping }: Draft): { path: string; mapping?: string } {
  return { path, ...(mapping === undefined ? {} : { mapping }) };
}

/** Only texts hold a time. */
function timeless(fields: Fields = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

function countInto(warnings: string[], text: string): void {
  const count = countSuspicious(text);
  if (count > 0) warnings.push(`the text from outside holds ${count} suspicious phrase${count === 1 ? "" : "s"}`);
}

/** SHA-256, hex, over resolved fields in a fixed order; a field that is absent is unlike any value. */
function fingerprintOf(fields: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify(sorted.filter(([, value]) => value !== undefined)), "hex");
}

/** Size of a row besides its action. */
const ROW_BYTES = 64;

/**
 * A row holds 256 KiB. Texts are measured before anything is done with them, actions when they are whole.
 * @throws {SvcError} `hook-too-large`
 */
function checkSize(what: string | AgentAction): void {
  const isText = typeof what === "string";
  // A text has at least as many bytes as units: a long one need not be counted.
  if (isText && what.length > MAX_PAYLOAD_BYTES) throw actionErrors.hookTooLarge();
  const bytes = Buffer.byteLength(isText ? what : JSON.stringify(what));
  if (bytes + (isText ? 0 : ROW_BYTES) > MAX_PAYLOAD_BYTES) throw actionErrors.hookTooLarge();
}
