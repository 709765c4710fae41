import { z } from "zod";
import { count, durationMs, epochMs } from "./fields.ts";

const origin = z.enum(["config", "workspace", "global", "bundled"]);

const tap = z.object({
  hook: z.string(),
  tap: z.string().exactOptional().describe("name its author gave it"),
  state: z.enum(["closed", "open", "half-open"]).describe("`open`: not called until `until`"),
  failures: count,
  until: epochMs.exactOptional(),
  lastError: z.string().exactOptional(),
});

const reloadStatus = z.enum([
  "reloaded",
  "in-place",
  "enabled",
  "disabled",
  "unchanged",
  "scheduled",
  "failed",
  "rolled-back",
  "restart-required",
]);

const runtime = z.object({
  state: z.enum(["ready", "loading", "active", "degraded", "retrying", "failed", "blocked", "disabled", "stopping", "disposed"]),
  since: epochMs,
  instance: count,
  code: z.string().exactOptional().describe("why it is not simply active"),
  reason: z.string().exactOptional(),
  hint: z.string().exactOptional(),
  ms: z.number().min(0).exactOptional().describe("import, set-up and start"),
  isolation: z.enum(["worker", "process"]).exactOptional(),
  lastReload: z.object({ at: epochMs, status: reloadStatus, error: z.string().exactOptional() }).exactOptional(),
});

/** A plugin as it was found and as it is now. */
export const pluginRow = z
  .object({
    id: z.string(),
    name: z.string(),
    version: z.string(),
    description: z.string(),
    kind: z.array(z.string()).exactOptional(),
    origin,
    installed: z.boolean(),
    enabled: z.boolean(),
    state: z.enum(["enabled", "disabled", "error"]),
    error: z.string().exactOptional(),
    runtime,
    hooks: z.array(tap),
    diagnostics: z.array(z.object({ code: z.string(), message: z.string() })).describe("registrations that were refused"),
  })
  .meta({ id: "PluginRow" });

const reloaded = z.object({ id: z.string(), status: reloadStatus, error: z.string().exactOptional(), ms: durationMs });

const uiDescriptor = z.object({
  id: z.string(),
  pluginId: z.string(),
  surface: z.enum(["tab", "widget", "settings", "session", "tool", "run"]),
  label: z.string(),
  kind: z.enum(["data", "frame"]),
  icon: z.string().exactOptional(),
  method: z.string().exactOptional().describe("kind `data`: what loads it"),
  src: z.string().exactOptional().describe("kind `frame`: its entry"),
  methods: z.array(z.string()).exactOptional().describe("kind `frame`: what it may call"),
});

/** Answers about plugins. */
export const pluginsResults = {
  "plugins.list": z.object({
    plugins: z.array(pluginRow),
    diagnostics: z.array(z.object({ pluginId: z.string(), code: z.string(), message: z.string() })),
    mutationAllowed: z.boolean(),
    generation: count.describe("grows with each change"),
  }),
  "plugins.inspect": z.object({
    ok: z.literal(true),
    plugin: pluginRow,
    source: z.object({ origin, root: z.string(), installed: z.boolean(), entry: z.string().exactOptional() }),
    declared: z.record(z.string(), z.array(z.string())).describe("channels, providers, tools, hooks, methods and more"),
    permissions: z.array(z.string()),
    configSchema: z.record(z.string(), z.unknown()).exactOptional(),
    homepage: z.string().exactOptional(),
  }),
  "plugins.setEnabled": z.object({
    ok: z.literal(true),
    plugin: pluginRow,
    restartRequired: z.boolean(),
    warnings: z.array(z.string()),
  }),
  "plugins.reload": z.object({
    pluginIds: z.array(z.string()).describe("all that did not fail"),
    restartRequired: z.boolean(),
    results: z.array(reloaded),
  }),
  "plugins.dev": z.object({ ok: z.boolean(), result: reloaded, plugin: pluginRow }),
  "plugins.uiDescriptors": z.object({ ok: z.literal(true), descriptors: z.array(uiDescriptor) }),
};
