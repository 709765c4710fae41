import type { ConfigIssue } from "./issues.ts";
import type { Locate } from "./place.ts";
import type { SvcConfig } from "./root.ts";

/** Rules between keys (`operations-config.md` 2), for the keys this release has. */
export function crossFieldIssues(config: SvcConfig, file: string, locate: Locate): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const conflict = (path: PropertyKey[], message: string, hint?: string) =>
    issues.push({ path: path.join("."), code: "conflict", message, ...(hint ? { hint } : {}), file, ...locate(path) });

  const { auth, bind, customBindHost } = config.gateway;
  if (auth.token && auth.password && !auth.mode) {
    conflict(
      ["gateway", "auth"],
      "both token and password are set; expected an explicit gateway.auth.mode",
      'add mode: "token" or mode: "password"',
    );
  }
  if (bind === "custom" && !customBindHost) conflict(["gateway", "bind"], 'bind "custom" needs gateway.customBindHost');

  const ids = new Set<string>();
  config.agents.list.forEach((agent, i) => {
    if (ids.has(agent.id)) conflict(["agents", "list", i, "id"], `agent id "${agent.id}" is used twice`);
    ids.add(agent.id);
  });
  const defaults = config.agents.list.flatMap((agent, i) => (agent.default ? [i] : []));
  for (const i of defaults.slice(1)) conflict(["agents", "list", i, "default"], "only one agent may be the default");
  return issues;
}
