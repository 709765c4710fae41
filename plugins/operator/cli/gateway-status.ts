import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CliContext, type CliTarget, type CliValues, commonErrors, defineCommand, type JsonObject } from "svc/sdk";
import { pageUrl } from "./page-url.ts";
import { type ProbeResult, probe } from "./probe.ts";
import { reloadLine } from "./reload-line.ts";
import { formatDuration, formatTime } from "./text.ts";

/** Everything the report is made of; nothing in it was written anywhere. */
interface Findings {
  target: CliTarget;
  config: Awaited<ReturnType<CliContext["config"]>>;
  owner: { pid: number; port?: number } | undefined;
  /** As the gateway that runs wrote it when it was ready; undefined while none is. */
  runtime: Runtime | undefined;
  lastRefusal: { ts: number; code: string; message: string } | null;
  /** Undefined with `--no-probe`. */
  probe: ProbeResult | undefined;
  /** Next step towards a running gateway; undefined while one runs. */
  advice: string | undefined;
}

interface Runtime {
  pid: number;
  startedAt: number;
  host: string;
  /** Mode in force: a flag may have named another one than the config. */
  bind?: string;
}

/** `svc gateway status`: works with a dead gateway and with an invalid config. */
export default defineCommand({
  path: ["gateway", "status"],
  summary: "Show whether the gateway is running, reachable and healthy",
  details: "Exits with 1 when the probe fails.",
  examples: [["Prove that a read-scope call works", "svc gateway status --require-rpc"]],
  options: {
    "require-rpc": { kind: "flag", description: "Also call health, and fail when that fails" },
    "no-probe": { kind: "flag", description: "Do not connect" },
    deep: { kind: "flag", description: "Scan the system for gateway services", hidden: true },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    if (values.deep === true) throw commonErrors.usage({ message: "gateway status: --deep is not part of this release; leave it out" });
    if (values["no-probe"] === true && values["require-rpc"] === true) {
      throw commonErrors.usage({ message: "gateway status: --no-probe and --require-rpc exclude each other" });
    }
    const findings = await find(cli, values);
    if (cli.json) cli.stdout.json(toJson(cli, findings));
    else print(cli, findings);
    return isWell(findings) ? 0 : 1;
  },
});

async function find(cli: CliContext, values: CliValues): Promise<Findings> {
  const [target, config, owner, refusal, written] = await Promise.all([
    cli.target(),
    cli.config(),
    cli.lockOwner(),
    readJson<{ ts: number; code: string; message: string }>(join(cli.paths.stateDir, "gateway", "last-refusal.json")),
    readJson<Runtime>(join(cli.paths.stateDir, "gateway", "runtime.json")),
  ]);
  const runtime = owner && written?.pid === owner.pid ? written : undefined;
  // A refusal from before the present gateway's start was overcome.
  const lastRefusal = refusal && (runtime === undefined || refusal.ts > runtime.startedAt) ? refusal : null;
  const result = values["no-probe"] === true ? undefined : await probe(cli, { requireRpc: values["require-rpc"] === true });
  const advice = owner ? undefined : await cli.startAdvice();
  return { target, config, owner, runtime, lastRefusal, probe: result, advice };
}

function isWell({ probe: p }: Findings): boolean {
  return p === undefined || (p.ok && p.rpc?.ok !== false);
}

/** Without a supervisor the lock decides; a gateway of another state directory is not ours to judge. */
function runtimeOf({ owner, probe: p }: Findings): "running" | "stopped" | "unknown" {
  if (owner) return "running";
  return p?.portBusy ? "unknown" : "stopped";
}

function print(cli: CliContext, f: Findings): void {
  const { color, paths, stdout } = cli;
  const tint = (ok: boolean, text: string) => (ok ? color.green(text) : color.red(text));
  const page = pageUrl(f.target.url, f.config.config);
  const state = !f.config.exists ? "missing" : f.config.valid ? "valid" : "invalid";
  stdout.line(`State: ${paths.stateDir} (source: ${paths.stateDirSource})`);
  stdout.line(`Config: ${paths.configPath} (${state}; source: ${paths.configPathSource})`);
  for (const issue of f.config.issues) stdout.line(color.yellow(`  ${issue.text.replaceAll("\n", "\n  ")}`));
  stdout.line(`Gateway: bind=${bindOf(f)} (${f.runtime?.host ?? f.target.host}), port=${f.target.port} (source: ${f.target.portSource})`);
  stdout.line(`Probe target: ${f.target.url}   Dashboard: ${page ?? "off"}`);
  stdout.line(`Log file: ${logFileOf(cli, f)}`);
  stdout.line(`Runtime: ${tint(f.owner !== undefined, runtimeOf(f))}${runtimeDetail(f)}`);
  stdout.line(`Connectivity probe: ${f.probe ? tint(f.probe.ok, probeText(f.probe)) : "skipped"}`);
  stdout.line(`Capability: ${(f.probe?.capability ?? "unknown").replaceAll("_", "-")}`);
  if (f.probe?.reload) stdout.line(`Config reload: ${tint(f.probe.reload.status === "active", reloadLine(f.probe.reload))}`);
  if (f.probe?.rpc)
    stdout.line(`Read probe: ${tint(f.probe.rpc.ok, f.probe.rpc.result)}${f.probe.rpc.error ? ` (${f.probe.rpc.error})` : ""}`);
  if (f.lastRefusal) stdout.line(color.yellow(`Last refusal: ${formatTime(f.lastRefusal.ts)} ${f.lastRefusal.message}`));
  if (f.owner?.port !== undefined && f.owner.port !== f.target.port)
    stdout.line(color.yellow(`The gateway of this profile listens on port ${f.owner.port}: svc gateway status --port ${f.owner.port}`));
  if (runtimeOf(f) === "stopped" && f.advice) stdout.line(color.dim(`${f.advice[0]?.toUpperCase()}${f.advice.slice(1)}`));
}

function probeText(result: ProbeResult): string {
  return result.ok ? `ok (${result.latencyMs}ms)` : `failed (${result.reason})`;
}

function runtimeDetail({ owner, runtime }: Findings): string {
  if (!owner) return "";
  return ` (pid ${owner.pid}${runtime === undefined ? "" : `, up ${formatDuration(Date.now() - runtime.startedAt)}`})`;
}

function toJson(cli: CliContext, f: Findings): JsonObject {
  const { paths } = cli;
  const gateway = (f.config.config?.gateway ?? {}) as { mode?: string };
  const runtime = {
    status: runtimeOf(f),
    ...(f.owner ? { pid: f.owner.pid } : {}),
    ...(f.runtime ? { startedAt: f.runtime.startedAt } : {}),
  };
  const { rpc, reload, portBusy, ...connection } = f.probe ?? {
    ok: null,
    capability: "unknown",
    reason: "skipped",
    portBusy: f.owner !== undefined,
  };
  const busy = portBusy || f.owner?.port === f.target.port;
  return {
    ok: isWell(f),
    cli: { version: cli.version, entry: process.argv[1] ?? "" },
    runtime,
    state: { path: paths.stateDir, source: paths.stateDirSource, profile: paths.profile },
    config: {
      path: paths.configPath,
      source: paths.configPathSource,
      exists: f.config.exists,
      valid: f.config.valid,
      issues: f.config.issues.map(({ path, message }) => ({ path, message })),
    },
    gateway: {
      mode: gateway.mode ?? null,
      bind: bindOf(f),
      host: f.target.host,
      port: f.target.port,
      portSource: f.target.portSource,
      url: f.target.url,
      secretSource: f.target.secretSource,
    },
    port: { status: busy ? "busy" : "free", listeners: f.owner && busy ? [{ pid: f.owner.pid, isGateway: true }] : [] },
    probe: connection,
    rpc: rpc ?? null,
    reload: reload ?? null,
    lastRefusal: f.lastRefusal,
    logFile: logFileOf(cli, f),
  };
}

function logFileOf(cli: CliContext, { config }: Findings): string {
  return cli.logs.path((config.config?.logging as { file?: string } | undefined)?.file);
}

function bindOf({ config, runtime }: Findings): string {
  if (runtime?.bind !== undefined) return runtime.bind;
  if (!config.valid) return "unknown";
  return (config.config?.gateway as { bind?: string } | undefined)?.bind ?? "loopback";
}

async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch {
    return null; // never started, or never refused
  }
}
