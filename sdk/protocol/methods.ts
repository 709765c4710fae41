import { z } from "zod";
import type { Scope } from "../types/rpc.ts";

/** Parameters and scope of one method. Objects are closed; results may gain fields. */
export interface MethodSpec<P extends z.ZodType = z.ZodType> {
  scope: Scope;
  params: P;
  about: string;
}

function method<P extends z.ZodType>(scope: Scope, about: string, params: P): MethodSpec<P> {
  return { scope, about, params };
}

const none = z.strictObject({});
const sessionKey = z.string().min(1).max(512);
const pluginId = z.string().min(1).max(64);
const agentId = z.string().min(1).max(64);
const idempotencyKey = z.string().min(1).max(256);
const attachments = z
  .array(z.strictObject({ type: z.string(), mimeType: z.string().min(1), fileName: z.string().max(255).optional(), content: z.string() }))
  .max(8);
const thinking = z.enum(["off", "minimal", "low", "medium", "high"]);
const queueMode = z.enum(["steer", "followup", "collect", "interrupt"]);
const configText = z.string().max(8 * 1024 * 1024);
/** Needed once a file exists. */
const baseHash = z.string().min(1).max(128).optional();
const note = z.string().max(1_000).optional();
const listFields = {
  limit: z.number().int().min(1).max(1000).optional(),
  offset: z.number().int().min(0).optional(),
  agentId: agentId.optional(),
  activeMinutes: z.number().int().min(1).optional(),
  includeGlobal: z.boolean().optional(),
  includeUnknown: z.boolean().optional(),
  includeDerivedTitles: z.boolean().optional(),
  includeLastMessage: z.boolean().optional(),
  label: z.string().optional(),
  spawnedBy: z.string().optional(),
  search: z.string().optional(),
  archived: z.boolean().optional(),
  sortBy: z.enum(["updatedAt", "lastInteractionAt"]).optional(),
};

/** Every method of this release that is named by the protocol documents. A plugin takes its row with `protocolMethod`. */
export const protocolMethods = {
  // kernel
  health: method("read", "health snapshot; `probe` collects it anew", z.strictObject({ probe: z.boolean().optional() })),
  status: method("read", "overview of the gateway", none),
  "system-presence": method("read", "who is connected, the gateway first", none),
  "config.get": method("read", "effective config and file, redacted", none),
  "config.set": method(
    "admin",
    "writes the whole config file; it is applied as any change of the file is",
    z.strictObject({ raw: configText, baseHash }),
  ),
  "config.apply": method(
    "admin",
    "writes the whole config file and waits until it is applied",
    z.strictObject({ raw: configText, baseHash, note, restartDelayMs: z.number().int().min(0).max(60_000).optional() }),
  ),
  "config.patch": method(
    "admin",
    "merges a JSON5 merge patch into the config file and waits until it is applied",
    z.strictObject({ raw: configText, baseHash, replacePaths: z.array(z.string().min(1).max(1_000)).max(256).optional(), note }),
  ),
  "config.schema": method("read", "JSON Schema of the config, plugins included, with hints for forms", none),
  "config.schema.lookup": method("read", "one node of the config schema and its children", z.strictObject({ path: z.string().max(1_000) })),
  "secrets.reload": method("admin", "ask for every secret again and swap them in at once", none),
  "gateway.doctor": method(
    "admin",
    "findings of the doctor checks of all plugins: id, severity, message, path, fix, fixable",
    z.strictObject({ deep: z.boolean().optional() }),
  ),
  "gateway.restart.request": method(
    "admin",
    "ask for a graceful restart, once active runs have ended",
    z.strictObject({ reason: z.string().min(1).max(200).optional(), delayMs: z.number().int().min(0).max(60_000).optional() }),
  ),
  "plugins.list": method("read", "every plugin found, with state and reason", none),
  "plugins.inspect": method("read", "one plugin: where it comes from and what it declares", z.strictObject({ pluginId })),
  "plugins.setEnabled": method(
    "admin",
    "switches a plugin on or off in the config and in the running gateway",
    z.strictObject({ pluginId, enabled: z.boolean() }),
  ),
  "plugins.reload": method(
    "admin",
    "replaces running instances with what stands on disk; ids nobody has yet are looked for",
    z.strictObject({ plugins: z.array(z.strictObject({ pluginId })).min(1).max(64) }),
  ),
  "plugins.dev": method(
    "admin",
    "adds a plugin folder for this run of the gateway, as plugins.load.paths would",
    z.strictObject({ path: z.string().min(1).max(4_096) }),
  ),
  "plugins.uiDescriptors": method("read", "panels that plugins add to the control UI", none),

  // agents
  agent: method(
    "write",
    "one agent run: `accepted`, events, final",
    z.strictObject({
      message: z.string().min(1),
      idempotencyKey,
      agentId: agentId.optional(),
      sessionKey: sessionKey.optional(),
      sessionId: z.string().min(1).optional(),
      model: z.string().min(1).optional(),
      provider: z.string().min(1).optional(),
      thinking: thinking.optional(),
      timeout: z.number().int().min(0).max(86_400).optional(),
      attachments: attachments.optional(),
      extraSystemPrompt: z.string().max(100_000).optional(),
      label: z.string().max(512).optional(),
    }),
  ),
  "agent.wait": method(
    "write",
    "waits for the end of a run; waiting never cancels",
    z.strictObject({ runId: z.string().min(1), timeoutMs: z.number().int().min(0).max(3_600_000).optional() }),
  ),
  "agent.identity.get": method(
    "read",
    "name and avatar of an agent",
    z.strictObject({ agentId: agentId.optional(), sessionKey: sessionKey.optional() }),
  ),
  "agents.list": method("read", "configured agents", none),
  "models.list": method(
    "read",
    "models of the available providers",
    z.strictObject({
      agentId: agentId.optional(),
      view: z.enum(["default", "configured", "all"]).optional(),
      provider: z.string().optional(),
    }),
  ),
  "chat.send": method(
    "write",
    "a chat turn; progress only by events",
    z.strictObject({
      sessionKey,
      message: z.string(),
      idempotencyKey,
      agentId: agentId.optional(),
      thinking: thinking.optional(),
      attachments: attachments.optional(),
      timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
      queueMode: queueMode.optional(),
    }),
  ),
  "chat.abort": method(
    "write",
    "stops runs of one session",
    z.strictObject({ sessionKey, runId: z.string().min(1).optional(), agentId: agentId.optional() }),
  ),
  "chat.history": method(
    "read",
    "messages of a session, oldest first, newest page by default",
    z.strictObject({
      sessionKey,
      limit: z.number().int().min(1).max(1000).optional(),
      offset: z.number().int().min(0).optional(),
      maxChars: z.number().int().min(1).max(1_000_000).optional(),
    }),
  ),
  "sessions.list": method("read", "sessions, newest first", z.strictObject(listFields)),
  "sessions.describe": method("read", "one session row or null", z.strictObject({ key: sessionKey })),
  "sessions.preview": method(
    "read",
    "last texts of some sessions",
    z.strictObject({
      keys: z.array(z.string()).min(1),
      limit: z.number().int().min(1).max(200).optional(),
      maxChars: z.number().int().min(20).max(10_000).optional(),
    }),
  ),
  "sessions.reset": method(
    "admin",
    "new transcript, overrides kept",
    z.strictObject({ key: sessionKey, reason: z.enum(["new", "reset"]).optional(), expectedSessionId: z.string().optional() }),
  ),
  "sessions.delete": method(
    "admin",
    "removes a session",
    z.strictObject({ key: sessionKey, deleteTranscript: z.boolean().optional(), expectedSessionId: z.string().optional() }),
  ),
  "sessions.patch": method(
    "write",
    "changes overrides of a session; null clears",
    z.strictObject({
      key: sessionKey,
      expectedSessionId: z.string().optional(),
      label: z.string().min(1).max(512).nullable().optional(),
      archived: z.boolean().nullable().optional(),
      pinned: z.boolean().nullable().optional(),
      unread: z.boolean().nullable().optional(),
      model: z.string().min(1).nullable().optional(),
      thinkingLevel: thinking.nullable().optional(),
    }),
  ),
  "sessions.subscribe": method("read", "receive `sessions.changed`; with list params also the list", z.strictObject(listFields)),
  "sessions.unsubscribe": method("read", "end of `sessions.subscribe`", none),
  "sessions.messages.subscribe": method(
    "read",
    "receive `session.message` and `session.tool` of one session",
    z.strictObject({ key: sessionKey }),
  ),
  "sessions.messages.unsubscribe": method("read", "end of `sessions.messages.subscribe`", z.strictObject({ key: sessionKey })),

  // memory-core
  "memory.search": method(
    "read",
    "passages found in an agent's memory",
    z.strictObject({
      query: z.string(),
      agentId: agentId.optional(),
      maxResults: z.number().int().min(1).max(200).optional(),
      minScore: z.number().min(0).max(1).optional(),
    }),
  ),
  "memory.get": method(
    "read",
    "text of one memory file, or lines of it",
    z.strictObject({
      agentId: agentId.optional(),
      path: z.string().max(4096),
      from: z.number().int().min(1).optional(),
      lines: z.number().int().min(1).optional(),
    }),
  ),
  "memory.status": method(
    "read",
    "state of an agent's index",
    z.strictObject({ agentId: agentId.optional(), deep: z.boolean().optional() }),
  ),
  "memory.index": method(
    "admin",
    "starts or joins a sync; `force` rebuilds",
    z.strictObject({ agentId: agentId.optional(), force: z.boolean().optional() }),
  ),
  "memory.reset": method("admin", "drops the index, never the files", z.strictObject({ agentId: agentId.optional() })),
} as const satisfies Record<string, MethodSpec>;

/** Name of a method of this release. */
export type ProtocolMethod = keyof typeof protocolMethods;
/** Params of a method as its handler gets them. */
export type ParamsOf<M extends ProtocolMethod> = z.output<(typeof protocolMethods)[M]["params"]>;

/** The protocol's row of a method, ready to spread into `ctx.registerRpc({ ...protocolMethod("health"), handler })`. */
export function protocolMethod<M extends ProtocolMethod>(
  name: M,
): { method: M; scope: Scope; params: (typeof protocolMethods)[M]["params"] } {
  const spec = protocolMethods[name];
  return { method: name, scope: spec.scope, params: spec.params };
}
