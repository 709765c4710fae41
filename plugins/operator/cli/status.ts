import { release } from "node:os";
// Types only, as in `health.ts`.
import type { CliCommand, CliContext, CliTarget, ResultOf } from "svc/sdk";
import { channelsLine } from "./channels-line.ts";
import { hooksLine } from "./hooks-line.ts";
import { type MemoryFigures, memoryLine } from "./memory-line.ts";
import { modelsLine } from "./models-line.ts";
import { pageUrl } from "./page-url.ts";
import { issuesOf } from "./status-issues.ts";
import { formatDuration, formatTime } from "./text.ts";

type StatusPayload = ResultOf<"status"> & Pick<ResultOf<"health">, "configReload">;

/** `svc status`: what runs, in one table. */
export default {
  path: ["status"],
  summary: "Overview of the running gateway",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli) => {
    const [status, health] = await cli.withClient((client) => Promise.all([client.request("status", {}), client.request("health", {})]));
    const { memoryIndex, configReload } = health;
    const whole = { ...status, configReload };
    if (cli.json) cli.stdout.json({ ...whole, ...(memoryIndex ? { memoryIndex } : {}) });
    else await printStatus(cli, whole, memoryIndex);
    return 0;
  },
} satisfies CliCommand;

async function printStatus(cli: CliContext, status: StatusPayload, memory: MemoryFigures | undefined): Promise<void> {
  const target = await cli.target();
  const { config } = await cli.config();
  cli.stdout.table(["Item", "Value"], items(status, { target, page: pageUrl(target.url, config), memory }));
  printRecent(cli, status);
  printWaiting(cli, status);
  const issues = issuesOf(status);
  if (issues.length > 0) cli.stdout.line(`\n${cli.color.bold("Issues")}`);
  for (const issue of issues) cli.stdout.line(cli.color.yellow(`  ${issue}`));
  cli.stdout.line();
  const next =
    status.plugins.errors.length > 0 ? "svc plugins list shows each plugin with its reason." : 'Ask something: svc agent --message "…"';
  cli.stdout.line(cli.color.dim(next));
}

interface Around {
  target: CliTarget;
  page: string | undefined;
  memory: MemoryFigures | undefined;
}

function items(status: StatusPayload, { target, page, memory }: Around): Array<[string, string]> {
  const beats = (status.heartbeat?.agents ?? []).map(heartbeatText);
  const agents = (status.agents ?? []).map((a) => `${a.agentId}${a.isDefault ? " (default)" : ""}`);
  const pid = status.pid === undefined ? "" : `pid ${status.pid}, `;
  const failed = status.plugins.errors.length;
  return [
    ["System", `${process.platform} ${release()}, node ${process.versions.node}`],
    ["Gateway", `${target.url}, ${status.runtimeVersion}, ${status.phase}, ${pid}up ${formatDuration(status.uptimeMs)}`],
    ["Dashboard", page ?? "off (gateway.controlUi.enabled)"],
    ["Agents", agents.join(", ") || "none"],
    ["Model", modelsLine(status.models) ?? "none"],
    ["Memory", memoryLine(memory) ?? "off"],
    ["Channels", channelsLine(status.channelSummary) ?? "none"],
    ["Hooks", hooksLine(status.hooks) ?? "off"],
    ["Heartbeat", beats.join(", ") || "off"],
    ["Sessions", String(status.sessions.count)],
    ["Plugins", `${status.plugins.loaded.length} active${failed > 0 ? `, ${failed} with errors` : ""}`],
  ];
}

/** `main every 30m`. */
function heartbeatText({ agentId, enabled, every }: NonNullable<StatusPayload["heartbeat"]>["agents"][number]): string {
  return `${agentId} ${enabled ? `every ${every}` : "off"}`;
}

function printWaiting(cli: CliContext, { queuedSystemEvents }: StatusPayload): void {
  if (queuedSystemEvents.length === 0) return;
  cli.stdout.line(`\n${cli.color.bold("Waiting for the next prompt")}`);
  for (const text of queuedSystemEvents) cli.stdout.line(`  ${text.replace(/\s+/g, " ")}`);
}

function printRecent(cli: CliContext, status: StatusPayload): void {
  const { recent } = status.sessions;
  if (recent.length === 0) return;
  cli.stdout.line(`\n${cli.color.bold("Recent sessions")}`);
  for (const session of recent.slice(0, 5)) cli.stdout.line(`  ${formatTime(session.updatedAt)}  ${session.key}`);
}
