import type { CliContext, JsonObject } from "svc/sdk";
import { isElsewhere, isWell, runtimeOf, type StatusFindings } from "./collect.ts";

/** The report as the one JSON document of `--json`. */
export function statusDocument(cli: CliContext, f: StatusFindings): JsonObject {
  const { paths } = cli;
  const { config, target, service } = f;
  const gateway = (config.config?.gateway ?? {}) as { mode?: string };
  const { rpc, reload, portBusy, ok, latencyMs = null, capability, reason, serverVersion = null } = f.probe ?? skipped(f);
  return {
    ok: isWell(f),
    cli: { version: cli.version, entry: process.argv[1] ?? "" },
    service: serviceDocument(f),
    state: { path: paths.stateDir, source: paths.stateDirSource, profile: paths.profile },
    config: {
      path: paths.configPath,
      source: paths.configPathSource,
      exists: config.exists,
      valid: config.valid,
      issues: config.issues.map(({ path, message }) => ({ path, message })),
      servicePath: service.configPath,
      sameAsService: service.configPath === null || service.configPath === paths.configPath,
    },
    gateway: {
      mode: gateway.mode ?? null,
      bind: bindOf(f),
      host: target.host,
      port: target.port,
      portSource: target.portSource,
      url: target.url,
      secretSource: target.secretSource,
    },
    port: { status: portBusy || f.listeners.length > 0 ? "busy" : "free", listeners: f.listeners },
    probe: { ok, latencyMs, capability, reason, serverVersion },
    rpc: rpc ?? null,
    reload: reload ?? null,
    otherServices: f.others ?? [],
    lastRefusal: f.lastRefusal,
    logFile: logFileOf(cli, f),
  } as unknown as JsonObject;
}

function serviceDocument(f: StatusFindings): JsonObject {
  const { manager, label, installed, enabled, definitionPath, installedPort, runtime, audit, problem } = f.service;
  const issues = audit.issues.map(({ id, message, fix }) => ({ id, message, fix }));
  const pid = runtime.pid ?? f.owner?.pid ?? null;
  const startedAt = f.runtime !== undefined && f.runtime.pid === pid ? f.runtime.startedAt : null;
  return {
    manager,
    label,
    installed,
    enabled,
    definitionPath,
    runtime: { status: runtimeOf(f), pid, startedAt, lastExit: runtime.lastExit },
    installedPort,
    audit: { ok: audit.ok, issues },
    ...(problem === undefined ? {} : { problem }),
  };
}

function skipped({ owner }: StatusFindings): NonNullable<StatusFindings["probe"]> {
  return { ok: null as unknown as boolean, capability: "unknown", reason: "skipped", portBusy: owner !== undefined };
}

export function logFileOf(cli: CliContext, { config }: Pick<StatusFindings, "config">): string {
  return cli.logs.path((config.config?.logging as { file?: string } | undefined)?.file);
}

/** Where the gateway listens; one elsewhere does not say. */
export function bindOf({ config, runtime, target }: Pick<StatusFindings, "config" | "runtime" | "target">): string {
  if (isElsewhere(target)) return "remote";
  if (runtime?.bind !== undefined) return runtime.bind;
  if (!config.valid) return "unknown";
  return (config.config?.gateway as { bind?: string } | undefined)?.bind ?? "loopback";
}
