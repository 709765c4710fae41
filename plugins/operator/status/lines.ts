import type { CliContext } from "svc/sdk";
import { pageUrl } from "../cli/page-url.ts";
import type { ProbeResult } from "../cli/probe.ts";
import { reloadLine } from "../cli/reload-line.ts";
import { formatDuration, formatTime } from "../cli/text.ts";
import type { ServiceReport } from "../service/inspect.ts";
import { isElsewhere, runtimeOf, type StatusFindings } from "./collect.ts";
import { bindOf, logFileOf } from "./document.ts";

const managerWords: Readonly<Record<ServiceReport["manager"], string>> = {
  "systemd-user": "systemd user",
  "systemd-system": "systemd system",
  launchd: "launchd",
  schtasks: "scheduled task",
  "startup-folder": "startup folder",
  none: "not installed",
};

/** Prints the report for people. */
export function printStatus(cli: CliContext, f: StatusFindings): void {
  printPlaces(cli, f);
  printGateway(cli, f);
  printTrouble(cli, f);
  printOthers(cli, f);
  if (runtimeOf(f) === "stopped" && f.advice) cli.stdout.line(cli.color.dim(`${f.advice[0]?.toUpperCase()}${f.advice.slice(1)}`));
}

function printPlaces(cli: CliContext, { service, config }: StatusFindings): void {
  const { color, paths, stdout } = cli;
  const short = (path: string) => shortened(cli, path);
  stdout.line(`Service: ${managerWords[service.manager]}${service.installed ? ` (${service.enabled ? "enabled" : "disabled"})` : ""}`);
  if (service.definitionPath !== null) {
    const name = service.manager.startsWith("systemd") ? "Unit" : "Definition";
    stdout.line(`${name}: ${short(service.definitionPath)}   Installed port: ${service.installedPort ?? "none"}`);
  }
  const state = !config.exists ? "missing" : config.valid ? "valid" : "invalid";
  const own =
    service.configPath === null ? "" : `   Service config: ${service.configPath === paths.configPath ? "same" : short(service.configPath)}`;
  if (paths.stateDirSource !== "default") stdout.line(`State: ${short(paths.stateDir)} (source: ${paths.stateDirSource})`);
  const source = paths.configPathSource === "state dir" ? "" : `; source: ${paths.configPathSource}`;
  stdout.line(`Config: ${short(paths.configPath)} (${state}${source})${own}`);
  for (const issue of config.issues) stdout.line(color.yellow(`  ${issue.text.replaceAll("\n", "\n  ")}`));
}

function printGateway(cli: CliContext, f: StatusFindings): void {
  const { color, stdout } = cli;
  const tint = (ok: boolean, text: string) => (ok ? color.green(text) : color.red(text));
  stdout.line(
    `Gateway: bind=${bindOf(f)} (${isElsewhere(f.target) ? f.target.host : (f.runtime?.host ?? f.target.host)}), port=${f.target.port} (source: ${f.target.portSource})`,
  );
  stdout.line(`Probe target: ${f.target.url}   Dashboard: ${pageUrl(f.target.url, f.config.config) ?? "off"}`);
  stdout.line(`Log file: ${shortened(cli, logFileOf(cli, f))}`);
  stdout.line(`Runtime: ${tint(f.owner !== undefined, runtimeOf(f))}${runtimeDetail(f)}`);
  stdout.line(`Connectivity probe: ${f.probe ? tint(f.probe.ok, probeText(f.probe)) : "skipped"}`);
  stdout.line(`Capability: ${(f.probe?.capability ?? "unknown").replaceAll("_", "-")}`);
  if (f.probe?.reload) stdout.line(`Config reload: ${tint(f.probe.reload.status === "active", reloadLine(f.probe.reload))}`);
  for (const [part, message] of Object.entries(f.probe?.problems ?? {})) stdout.line(color.yellow(`Problem: ${part}: ${message}`));
  if (f.probe?.rpc)
    stdout.line(`Read probe: ${tint(f.probe.rpc.ok, f.probe.rpc.result)}${f.probe.rpc.error ? ` (${f.probe.rpc.error})` : ""}`);
}

function printTrouble({ color, stdout }: CliContext, f: StatusFindings): void {
  const { audit, problem } = f.service;
  const warn = (text: string) => stdout.line(color.yellow(text));
  const { pid } = f.service.runtime;
  if (f.owner && f.service.installed && f.service.problem === undefined && pid !== f.owner.pid)
    warn(`The gateway that runs (pid ${f.owner.pid}) is not the one of the service, which is ${f.service.runtime.status}`);
  if (problem !== undefined) warn(`Supervisor: not reachable (${problem})`);
  for (const { message, fix } of audit.issues) warn(`Drift: ${message} → ${fix}`);
  if (f.lastRefusal) warn(`Last refusal: ${formatTime(f.lastRefusal.ts)} ${f.lastRefusal.message}`);
  if (f.lastError !== undefined) warn(`Last error: ${f.lastError}`);
  for (const { pid, command, isGateway, address } of f.listeners)
    if (pid !== f.owner?.pid) warn(`Port: ${address} is held by ${isGateway ? "another gateway, " : ""}${command} (pid ${pid})`);
  if (!isElsewhere(f.target) && f.owner?.port !== undefined && f.owner.port !== f.target.port)
    warn(`The gateway of this profile listens on port ${f.owner.port}: svc gateway status --port ${f.owner.port}`);
}

function printOthers({ color, stdout }: CliContext, { others }: StatusFindings): void {
  if (!others) return;
  if (others.length === 0) return stdout.line("No other gateway-like services were found.");
  stdout.line(color.yellow("Other gateway-like services detected (best effort)"));
  for (const { manager, label, path, cleanup } of others) {
    stdout.line(`  ${label} (${managerWords[manager]}${path === null ? "" : `, ${path}`})`);
    stdout.line(color.dim(`    ${cleanup}`));
  }
}

function probeText(result: ProbeResult): string {
  return result.ok ? `ok (${result.latencyMs}ms)` : `failed (${result.reason})`;
}

function runtimeDetail({ owner, runtime, service, uncleanEnd }: StatusFindings): string {
  if (owner) return ` (pid ${owner.pid}${runtime === undefined ? "" : `, up ${formatDuration(Date.now() - runtime.startedAt)}`})`;
  const { lastExit } = service.runtime;
  const details = [
    ...(lastExit === null || lastExit === 0 ? [] : [`last exit ${lastExit}`]),
    ...(uncleanEnd ? [`it ended without being asked to; started ${formatTime(uncleanEnd.startedAt)}`] : []),
  ];
  return details.length === 0 ? "" : ` (${details.join("; ")})`;
}

/** A path with `~` for the home. */
function shortened({ env }: CliContext, path: string): string {
  const home = env.HOME || env.USERPROFILE || "";
  return home !== "" && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
