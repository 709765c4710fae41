// Types only: `svc/sdk` brings the schemas along, and this command should cost no more than its connection.
import type { CliCommand, CliContext, ResultOf } from "svc/sdk";
import { hooksLine } from "./hooks-line.ts";
import { memoryLine } from "./memory-line.ts";
import { modelsLine } from "./models-line.ts";
import { reloadIssue } from "./status-issues.ts";
import { formatDuration } from "./text.ts";

function healthCommand(path: string[]): CliCommand {
  return {
    path,
    summary: "Health of the running gateway and its parts",
    details: "Exits with 1 when a critical part is not well.",
    options: {
      json: { kind: "flag", description: "The whole snapshot as JSON" },
      verbose: { kind: "flag", description: "Collect it now instead of using the cached snapshot" },
    },
    rpc: true,
    run: async (cli, values) => {
      const params = values.verbose === true ? { probe: true } : {};
      const health = await cli.withClient((client) => client.request("health", params));
      if (cli.json) cli.stdout.json(health);
      else printHealth(cli, health);
      return health.ok ? 0 : 1;
    },
  };
}

function printHealth(cli: CliContext, health: ResultOf<"health">): void {
  const { color, stdout } = cli;
  const { version, phase, uptimeMs, memory: process, eventLoop, plugins, agents = [] } = health;
  const state = health.ok ? color.green("ok") : color.red("not ok");
  const megabytes = `${Math.round(process.rssBytes / 1e6)} MB`;
  const details = [
    version,
    phase,
    `up ${formatDuration(uptimeMs)}`,
    megabytes,
    `event loop p99 ${eventLoop.delayP99Ms} ms${eventLoop.degraded ? " (degraded)" : ""}`,
  ];
  stdout.line(`Gateway: ${state} (${details.join(", ")})`);
  const { loaded, errors } = plugins;
  stdout.line(`Plugins: ${loaded.length} loaded${errors.length > 0 ? `, ${errors.length} with errors` : ""}`);
  for (const { id, error } of errors) stdout.line(color.yellow(`  ${id}: ${error}`));
  for (const { agentId, isDefault, sessions, heartbeat } of agents) {
    const count = `${sessions.count} ${sessions.count === 1 ? "session" : "sessions"}`;
    stdout.line(
      `Agent ${agentId}${isDefault ? " (default)" : ""}: ${count}, heartbeat ${heartbeat.enabled ? `every ${heartbeat.every}` : "off"}`,
    );
  }
  const { queues } = health;
  if (queues) stdout.line(`Queues: ${queues.active} at work, ${queues.queued} waiting in ${queues.lanes} lanes`);
  const models = modelsLine(health.models);
  if (models) stdout.line(`Model: ${models}`);
  const memory = memoryLine(health.memoryIndex);
  if (memory) stdout.line(`Memory: ${memory}`);
  const hooks = hooksLine(health.hooks);
  if (hooks) stdout.line(`Hooks: ${hooks}`);
  const { stale, unavailable } = health.secrets;
  if (unavailable.length > 0) stdout.line(color.yellow(`Secrets not available: ${unavailable.join(", ")}; see svc secrets audit`));
  if (stale.length > 0) stdout.line(color.yellow(`Secrets still with the old value: ${stale.join(", ")}; see svc secrets reload`));
  const reload = reloadIssue(health.configReload);
  if (reload) stdout.line(color.yellow(`Config reload: ${reload}`));
  const others = Object.entries(health.problems ?? {}).filter(([part]) => !part.startsWith("plugin:")); // these stand above
  for (const [part, message] of others) stdout.line(color.yellow(`Problem in ${part}: ${message}`));
}

export default [healthCommand(["health"]), healthCommand(["gateway", "health"])];
