import { type CheckResult, type PluginContext, resolveAgents } from "svc/sdk";
import type { Breakers } from "./breaker.ts";
import type { Settings } from "./settings.ts";

const PATH = "plugins.entries.active-memory.config.agents";

/** Checks of `svc doctor`: whether anything comes of the settings, and whether searches work. */
export function registerChecks(
  ctx: Pick<PluginContext, "registerDoctorCheck" | "snapshot">,
  { settings, breakers }: { settings(): Settings; breakers: Pick<Breakers, "paused"> },
): void {
  ctx.registerDoctorCheck({
    id: "active-memory/agents",
    run() {
      const known = resolveAgents(ctx.snapshot(), "/").map(({ id }) => id);
      return agentsCheck(settings(), known);
    },
  });
  ctx.registerDoctorCheck({ id: "active-memory/searches", run: () => searchesCheck(breakers.paused()) });
}

/** Pure. */
export function agentsCheck({ enabled, agents }: Pick<Settings, "enabled" | "agents">, known: readonly string[]): CheckResult {
  const unknown = agents.filter((id) => !known.includes(id));
  if (enabled && agents.length === 0)
    return {
      ok: false,
      level: "warning",
      message: "active memory is on and names no agent, so nothing happens",
      fix: `svc config set ${PATH} '["${known[0]}"]'`,
    };
  if (unknown.length === 0) return { ok: true, level: "info", message: "active memory names agents that exist" };
  const message = `active memory names agents that do not exist: ${unknown.slice(0, 10).join(", ")}`;
  return { ok: false, level: "warning", message, fix: `correct ${PATH}; agents are: ${known.slice(0, 20).join(", ")}` };
}

/** Pure. @param paused agents and the reasons of their last failures */
export function searchesCheck(paused: ReadonlyMap<string, string>): CheckResult {
  const [first] = paused;
  if (!first) return { ok: true, level: "info", message: "searches ahead of answers work, or none was made" };
  const message = `searches ahead of the answers of agent "${first[0]}" pause after failures in a row: ${first[1]}`;
  return {
    ok: false,
    level: "warning",
    message,
    fix: "svc models test; a slow model needs another config.model or a longer config.timeoutMs",
  };
}
