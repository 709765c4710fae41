import { release } from "node:os";
// Types only, as in `health.ts`.
import type { CliClient, CliCommand, CliContext, CliTarget, ResultOf } from "svc/sdk";
import type { OtherService } from "../service/other-services.ts";
import { channelsLine } from "./channels-line.ts";
import { cronLine } from "./cron-line.ts";
import { hooksLine } from "./hooks-line.ts";
import { type MemoryFigures, memoryLine } from "./memory-line.ts";
import { modelsLine } from "./models-line.ts";
import { pageUrl } from "./page-url.ts";
import { serviceLine } from "./service-line.ts";
import { issuesOf } from "./status-issues.ts";
import { formatDuration, formatTime } from "./text.ts";

type StatusPayload = ResultOf<"status"> & Pick<ResultOf<"health">, "configReload">;

/** `svc status`: what runs, in one table. */
export default {
  path: ["status"],
  summary: "Overview of the running gateway",
  details:
    "Shows what the gateway knows. --deep asks further: a fresh health, each account of each channel, and the services of this system.",
  examples: [["Ask every account of every channel", "svc status --deep"]],
  options: {
    all: { kind: "flag", description: "Leave nothing out: every session the gateway tells, every plugin" },
    deep: { kind: "flag", description: "Ask channels and system as well, which takes longer" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const deep = values.deep === true;
    const [status, health, channels] = await cli.withClient((client) =>
      Promise.all([
        client.request("status", {}),
        client.request("health", deep ? { probe: true } : {}),
        deep ? probedChannels(client) : undefined,
      ]),
    );
    const { memoryIndex, configReload } = health;
    const whole = { ...status, configReload };
    const service = (await isHere(cli)) ? await serviceLine(cli) : undefined;
    const others = deep && service ? await otherServices(cli) : undefined;
    const more = { ...(channels ? { channels } : {}), ...(others ? { otherServices: others } : {}) };
    if (cli.json) cli.stdout.json({ ...whole, ...(memoryIndex ? { memoryIndex } : {}), ...(service ? { service } : {}), ...more });
    else await printStatus(cli, whole, { memory: memoryIndex, service, isAll: values.all === true, ...more });
    return 0;
  },
} satisfies CliCommand;

/** Facts that the answer of the gateway does not hold. */
interface Beside {
  memory: MemoryFigures | undefined;
  /** Undefined for a gateway elsewhere. */
  service: Awaited<ReturnType<typeof serviceLine>> | undefined;
  isAll: boolean;
  channels?: ProbedAccount[];
  otherServices?: OtherService[];
}

/** An account of a channel with what it answered. */
interface ProbedAccount {
  channel: string;
  accountId: string;
  lifecycle: string;
  probe: string;
}

/** Asks each account whether its credentials are good; without the plugin of channels there are none. */
async function probedChannels(client: CliClient): Promise<ProbedAccount[]> {
  const answer = await client.request("channels.status", { probe: true }).catch((error: { code?: string }) => {
    if (error.code === "INVALID_REQUEST") return undefined; // no such method
    throw error;
  });
  if (!answer) return [];
  return answer.channelOrder.flatMap((channel) =>
    (answer.channelAccounts[channel] ?? []).map(({ accountId, lifecycle, probe }) => ({
      channel,
      accountId,
      lifecycle,
      probe: probeWords(probe),
    })),
  );
}

function probeWords(probe: { ok: boolean; error?: string } | undefined): string {
  if (!probe) return "not asked";
  return probe.ok ? "ok" : `failed${probe.error ? `: ${probe.error}` : ""}`;
}

/** Supervisors are those of this machine. */
async function isHere(cli: CliContext): Promise<boolean> {
  return (await cli.target()).host === "127.0.0.1" && (await cli.lockOwner()) !== undefined;
}

async function otherServices(cli: CliContext): Promise<OtherService[]> {
  const [{ findOtherServices }, { findSupervision }] = await Promise.all([
    import("../service/other-services.ts"),
    import("../service/supervision.ts"),
  ]);
  return findOtherServices(cli, await findSupervision(cli));
}

async function printStatus(cli: CliContext, status: StatusPayload, beside: Beside): Promise<void> {
  const target = await cli.target();
  const { config } = await cli.config();
  cli.stdout.table(["Item", "Value"], items(status, { target, page: pageUrl(target.url, config), ...beside }));
  printChannels(cli, beside.channels);
  printRecent(cli, status, beside.isAll);
  printWaiting(cli, status);
  if (beside.isAll) cli.stdout.line(`\n${cli.color.bold("Plugins")}\n  ${status.plugins.loaded.join(", ")}`);
  for (const { label, cleanup } of beside.otherServices ?? [])
    cli.stdout.line(cli.color.yellow(`\nAnother gateway-like service: ${label}\n  ${cleanup}`));
  const issues = [...issuesOf(status), ...(beside.service?.issues ?? [])];
  if (issues.length > 0) cli.stdout.line(`\n${cli.color.bold("Issues")}`);
  for (const issue of issues) cli.stdout.line(cli.color.yellow(`  ${issue}`));
  cli.stdout.line();
  const next =
    status.plugins.errors.length > 0 ? "svc plugins list shows each plugin with its reason." : 'Ask something: svc agent --message "…"';
  cli.stdout.line(cli.color.dim(next));
}

type Around = { target: CliTarget; page: string | undefined } & Pick<Beside, "memory" | "service">;

function items(status: StatusPayload, { target, page, memory, service }: Around): Array<[string, string]> {
  const beats = (status.heartbeat?.agents ?? []).map(heartbeatText);
  const agents = (status.agents ?? []).map((a) => `${a.agentId}${a.isDefault ? " (default)" : ""}`);
  const pid = status.pid === undefined ? "" : `pid ${status.pid}, `;
  const failed = status.plugins.errors.length;
  return [
    ["System", `${process.platform} ${release()}, node ${process.versions.node}`],
    ["Gateway", `${target.url}, ${status.runtimeVersion}, ${status.phase}, ${pid}up ${formatDuration(status.uptimeMs)}`],
    ...(service ? ([["Service", service.line]] as Array<[string, string]>) : []),
    ["Dashboard", page ?? "off (gateway.controlUi.enabled)"],
    ["Agents", agents.join(", ") || "none"],
    ["Model", modelsLine(status.models) ?? "none"],
    ["Memory", memoryLine(memory) ?? "off"],
    ["Channels", channelsLine(status.channelSummary) ?? "none"],
    ["Hooks", hooksLine(status.hooks) ?? "off"],
    ["Heartbeat", beats.join(", ") || "off"],
    ["Cron", cronLine(status.cron, Date.now()) ?? "off"],
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

function printChannels(cli: CliContext, channels: ProbedAccount[] | undefined): void {
  if (!channels || channels.length === 0) return;
  cli.stdout.line(`\n${cli.color.bold("Channels")}`);
  for (const { channel, accountId, lifecycle, probe } of channels)
    cli.stdout.line(`  ${channel}/${accountId}  ${lifecycle}, probe ${probe}`);
}

function printRecent(cli: CliContext, status: StatusPayload, isAll: boolean): void {
  const { recent } = status.sessions;
  if (recent.length === 0) return;
  cli.stdout.line(`\n${cli.color.bold("Recent sessions")}`);
  for (const session of recent.slice(0, isAll ? undefined : 5)) cli.stdout.line(`  ${formatTime(session.updatedAt)}  ${session.key}`);
}
