import { count, plural } from "./format.js";

/**
 * The parts of the gateway in one list, with reason and remedy. Pure.
 *
 * @typedef {"ok" | "info" | "warn" | "bad"} Level
 * @typedef {{ id: string, name: string, level: Level, text: string, reason?: string, command?: string, hint?: string }} Part
 * @typedef {import("./store.js").Health} Health
 * @typedef {{ health: Health | undefined, plugins: import("./store.js").PluginInfo[] | undefined,
 *   models: import("./store.js").ModelInfo[] | undefined, defaultModel: { provider: string, model: string } | undefined,
 *   memory: import("./store.js").MemoryStatus | undefined }} Facts
 */

/**
 * Parts of the gateway: failing ones first, then in the order of the list.
 * @param {Facts} facts
 * @returns {Part[]}
 */
export function partsOf(facts) {
  const parts = [gatewayPart(facts), modelPart(facts), memoryPart(facts), ...pluginParts(facts)].filter((p) => p !== undefined);
  const rank = { bad: 0, warn: 1, info: 2, ok: 2 };
  return parts.sort((a, b) => rank[a.level] - rank[b.level]);
}

/** Parts that need a person. @param {Part[]} parts */
export function needingYou(parts) {
  return parts.filter((part) => part.level === "bad" || part.level === "warn");
}

/** @param {Facts} facts @returns {Part | undefined} */
function gatewayPart({ health }) {
  if (!health) return undefined;
  const problems = /** @type {Record<string, string>} */ (health.problems ?? {});
  const reasons = Object.entries(problems).map(([part, reason]) => `${part}: ${reason}`);
  const version = health.version ? `version ${health.version}` : "running";
  if (health.ok === false || reasons.length > 0) {
    const reason = reasons.join("; ") || "a critical part reports that it does not work";
    return { id: "gateway", name: "Gateway", level: health.ok === false ? "bad" : "warn", text: version, reason, command: "svc health" };
  }
  return { id: "gateway", name: "Gateway", level: "ok", text: version };
}

/** @param {Facts} facts @returns {Part | undefined} */
function modelPart({ models, defaultModel }) {
  if (!models) return undefined;
  const usable = models.filter((m) => m.available !== false);
  if (usable.length === 0) {
    const reason = "no model can answer";
    return { id: "model", name: "Model", level: "bad", text: "none", reason, hint: "Enable the plugin model-recall or add a provider." };
  }
  if (!defaultModel || defaultModel.provider === "recall") {
    return {
      id: "model",
      name: "Model",
      level: "info",
      text: "recall, quotes your notes",
      hint: "No language model is configured. Add one under models.providers in the config file, or set an API key such as OPENAI_API_KEY.",
    };
  }
  const name = `${defaultModel.provider}/${defaultModel.model}`;
  const own = models.find((m) => m.provider === defaultModel.provider && m.id === defaultModel.model);
  if (own?.available === false) {
    const reason =
      own.unavailableReason === "missing-auth"
        ? "its API key is missing"
        : `it is not available now (${own.unavailableReason ?? "unknown"})`;
    return { id: "model", name: "Model", level: "warn", text: name, reason };
  }
  return { id: "model", name: "Model", level: "ok", text: name };
}

/** @param {Facts} facts @returns {Part | undefined} */
function memoryPart({ memory }) {
  if (!memory) return undefined;
  const { files = 0, chunks = 0, custom, syncing, lastError, workspace } = memory;
  const mode = custom?.searchMode === "fts-only" || !custom?.searchMode ? "keyword search" : `${custom.searchMode} search`;
  const text = `${plural(files, "file")}, ${plural(chunks, "passage")}, ${mode}${syncing ? ", reading" : ""}`;
  if (lastError) return { id: "memory", name: "Memory", level: "warn", text, reason: lastError, command: "svc memory status" };
  if (files === 0 && !syncing) {
    const hint = `Write notes as Markdown files${workspace ? ` into ${workspace}/memory` : " into the workspace's memory folder"}.`;
    return { id: "memory", name: "Memory", level: "info", text: "no notes yet", hint };
  }
  return { id: "memory", name: "Memory", level: "ok", text };
}

/** Failing plugins one by one, the rest as one line. @param {Facts} facts @returns {Part[]} */
function pluginParts({ plugins }) {
  if (!plugins) return [];
  // A plugin that was switched off has a reason too, and needs nobody.
  const failing = plugins.filter((p) => p.state === "error" || (p.error && p.state !== "disabled"));
  const active = plugins.filter((p) => p.state === "enabled" && !p.error).length;
  const parts = failing.map((p) => ({
    id: `plugin:${p.id}`,
    name: p.name ?? p.id,
    level: /** @type {Level} */ ("bad"),
    text: "plugin failed",
    reason: p.error ?? "it did not start",
    command: "svc plugins list",
  }));
  return [...parts, { id: "plugins", name: "Plugins", level: "ok", text: `${count(active)} active` }];
}
