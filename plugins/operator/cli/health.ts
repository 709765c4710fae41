// Types only: `svc/sdk` brings the schemas along, and this command should cost no more than its connection.
import type { CliCommand, CliContext, JsonObject } from "svc/sdk";
import { type MemoryFigures, memoryLine } from "./memory-line.ts";
import type { ReloadFigures } from "./reload-line.ts";
import { reloadIssue } from "./status-issues.ts";
import { formatDuration } from "./text.ts";
import { withClient } from "./with-client.ts";

/** The parts of the `health` payload that are shown; others are printed by `--json`. */
interface HealthPayload extends JsonObject {
  ok: boolean;
  version?: string;
  phase?: string;
  uptimeMs?: number;
  plugins?: { loaded: string[]; errors: Array<{ id: string; error: string }> };
  agents?: Array<{ agentId: string; isDefault?: boolean; sessions?: { count?: number } }>;
  memoryIndex?: MemoryFigures;
  /** Parts of the config that run with an old secret, or with none. */
  secrets?: { stale: string[]; unavailable: string[] };
  configReload?: ReloadFigures;
  problems?: Record<string, string>;
  eventLoop?: { delayP99Ms?: number };
  memory?: { rssBytes?: number };
}

function healthCommand(path: string[]): CliCommand {
  return {
    path,
    summary: "Health of the running gateway and its parts",
    details: "Exits with 1 when a critical part is not well.",
    options: {
      json: { kind: "flag", description: "The whole snapshot as JSON" },
      verbose: { kind: "flag", description: "Collect it anew instead of taking the cached snapshot" },
    },
    rpc: true,
    run: async (cli, values) => {
      const params = values.verbose === true ? { probe: true } : {};
      const health = await withClient(cli, (client) => client.request<HealthPayload>("health", params));
      if (cli.json) cli.stdout.json(health);
      else printHealth(cli, health);
      return health.ok ? 0 : 1;
    },
  };
}

function printHealth(cli: CliContext, health: HealthPayload): void {
  const { color, stdout } = cli;
  const state = health.ok ? color.green("ok") : color.red("not ok");
  const details = [
    health.version,
    health.phase,
    health.uptimeMs === undefined ? undefined : `up ${formatDuration(health.uptimeMs)}`,
    health.memory?.rssBytes === undefined ? undefined : `${Math.round(health.memory.rssBytes / 1e6)} MB`,
    health.eventLoop?.delayP99Ms === undefined ? undefined : `event loop p99 ${health.eventLoop.delayP99Ms} ms`,
  ];
  stdout.line(`Gateway: ${state} (${details.filter(Boolean).join(", ")})`);
  const errors = health.plugins?.errors ?? [];
  stdout.line(`Plugins: ${health.plugins?.loaded.length ?? 0} loaded${errors.length > 0 ? `, ${errors.length} with errors` : ""}`);
  for (const { id, error } of errors) stdout.line(color.yellow(`  ${id}: ${error}`));
  for (const agent of health.agents ?? []) {
    const count = agent.sessions?.count ?? 0;
    stdout.line(`Agent ${agent.agentId}${agent.isDefault ? " (default)" : ""}: ${count} ${count === 1 ? "session" : "sessions"}`);
  }
  const memory = memoryLine(health.memoryIndex);
  if (memory) stdout.line(`Memory: ${memory}`);
  const { stale = [], unavailable = [] } = health.secrets ?? {};
  if (unavailable.length > 0) stdout.line(color.yellow(`Secrets not available: ${unavailable.join(", ")}; see svc secrets audit`));
  if (stale.length > 0) stdout.line(color.yellow(`Secrets still with the old value: ${stale.join(", ")}; see svc secrets reload`));
  const reload = reloadIssue(health.configReload);
  if (reload) stdout.line(color.yellow(`Config reload: ${reload}`));
  for (const [part, message] of Object.entries(health.problems ?? {})) stdout.line(color.yellow(`Problem in ${part}: ${message}`));
}

export default [healthCommand(["health"]), healthCommand(["gateway", "health"])];
