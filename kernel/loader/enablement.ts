import type { SvcConfig } from "../../sdk/config/root.ts";
import type { PluginCandidate, PluginProblem } from "../../sdk/types/plugin-candidate.ts";

/**
 * Reason from the config why a discovered plugin may not load; undefined when it may. `deny` beats everything; then `allow`, the slots, the
 * plugin's own entry, and the default of its root: on for what the operator named or installed and for bundled ones that say so, else off.
 */
export function enablementProblem(candidate: PluginCandidate, config: SvcConfig): PluginProblem | undefined {
  const { plugins } = config;
  const { id, manifest } = candidate;
  if (!plugins.enabled) return off("disabled", "not-enabled", "plugins.enabled is false", "set plugins.enabled to true and restart");
  if (plugins.deny.includes(id)) return off("blocked", "denied", "listed in plugins.deny", `remove "${id}" from plugins.deny`);
  if (plugins.allow && !plugins.allow.includes(id)) {
    return off("blocked", "not-allowed", "not listed in plugins.allow", `add "${id}" to plugins.allow`);
  }
  const entry = plugins.entries[id];
  if (entry?.enabled === false) return notEnabled(id);
  const slot = manifest?.slot;
  if (slot && plugins.slots[slot] !== id) {
    const reason = `plugins.slots.${slot} ${plugins.slots[slot] === "none" ? 'is "none"' : `names "${plugins.slots[slot]}"`}`;
    return off("disabled", "slot-taken", reason, `set plugins.slots.${slot} to "${id}" to use this one`);
  }
  return (entry?.enabled ?? isOnByDefault(candidate)) ? undefined : notEnabled(id);
}

function isOnByDefault({ origin, installed, manifest }: PluginCandidate): boolean {
  if (origin === "bundled") return manifest?.enabledByDefault === true;
  return origin === "config" || (origin === "global" && installed === true);
}

function notEnabled(id: string): PluginProblem {
  return off("disabled", "not-enabled", `plugins.entries.${id}.enabled is not true`, `turn it on with: svc plugins enable ${id}`);
}

function off(state: PluginProblem["state"], code: PluginProblem["code"], reason: string, hint: string): PluginProblem {
  return { state, code, reason, hint };
}
