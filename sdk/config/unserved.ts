import { type ConfigIssue, inFileOrder } from "./issues.ts";
import type { ConfigWarning } from "./loaded.ts";
import type { Locate } from "./place.ts";
import type { SvcConfig } from "./root.ts";

interface Unserved {
  path: string[];
  /** Is the setting in force? */
  isSet(gateway: SvcConfig["gateway"]): boolean;
  message: string;
  hint: string;
}

/** Settings that decide who gets in, and that this version cannot keep: ignoring one would open a door the operator believes shut. */
const unserved: readonly Unserved[] = [
  {
    path: ["gateway", "tailscale", "mode"],
    isSet: ({ tailscale }) => tailscale.mode !== "off",
    message: "publishing by tailscale is not served by this version; expected off",
    hint: "run tailscale serve beside the gateway",
  },
];

/** Issues for settings this version cannot serve: refused at start and at a reload, never ignored. */
export function unservedIssues({ gateway }: SvcConfig, file: string, locate: Locate): ConfigIssue[] {
  const found = unserved.filter(({ isSet }) => isSet(gateway));
  const issues = found.map(
    ({ path, message, hint }): ConfigIssue => ({ path: path.join("."), code: "invalid_value", message, hint, file, ...locate(path) }),
  );
  return inFileOrder(issues, file);
}

type Agent = SvcConfig["agents"]["list"][number];
type AgentPart = Pick<Agent, "heartbeat" | "memorySearch">;

/** Switches of parts that come with a later version: nothing is unsafe without them, but whoever sets one must not wait for an effect. */
const withoutEffect: ReadonlyArray<readonly [path: string, isSet: (config: SvcConfig) => boolean]> = [
  ["memory.backend", ({ memory }) => memory.backend !== "builtin"],
  ["diagnostics.otel.enabled", ({ diagnostics }) => diagnostics.otel.enabled],
  ["diagnostics.prometheus.enabled", ({ diagnostics }) => diagnostics.prometheus.enabled],
];

const withoutEffectForAgents: ReadonlyArray<readonly [path: string, isSet: (agent: AgentPart) => boolean]> = [
  ["heartbeat.directPolicy", ({ heartbeat }) => heartbeat?.directPolicy === "block"],
  ["memorySearch.sidecar.extraCollections", ({ memorySearch }) => (memorySearch?.sidecar?.extraCollections ?? []).length > 0],
];

/** Warnings for settings that this version takes and does not follow yet. */
export function unservedWarnings(config: SvcConfig): ConfigWarning[] {
  const { defaults, list } = config.agents;
  const agents = [["agents.defaults", defaults] as const, ...list.map((agent, i) => [`agents.list.${i}`, agent] as const)];
  const paths = [
    ...withoutEffect.flatMap(([path, isSet]) => (isSet(config) ? [path] : [])),
    ...agents.flatMap(([at, agent]) => withoutEffectForAgents.flatMap(([path, isSet]) => (isSet(agent) ? [`${at}.${path}`] : []))),
  ];
  return paths.map((path) => ({ path, message: "is not served by this version and has no effect" }));
}
