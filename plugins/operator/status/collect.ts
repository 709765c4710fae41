import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CliContext, CliTarget } from "svc/sdk";
import { type ProbeResult, probe } from "../cli/probe.ts";
import { inspectService, type ServiceReport } from "../service/inspect.ts";
import { findOtherServices, type OtherService } from "../service/other-services.ts";
import { newestError } from "../service/ready.ts";
import { findSupervision } from "../service/supervision.ts";
import { uncleanEnd } from "../unclean-end.ts";

/** Everything that `svc gateway status` reports; nothing in it was written anywhere. */
export interface StatusFindings {
  target: CliTarget;
  config: Awaited<ReturnType<CliContext["config"]>>;
  owner: { pid: number; port?: number } | undefined;
  /** As the gateway that runs wrote it when it was ready; undefined while none is. */
  runtime: Runtime | undefined;
  service: ServiceReport;
  /** Undefined without `--deep`. */
  others: OtherService[] | undefined;
  listeners: Listener[];
  lastRefusal: { ts: number; code: string; message: string } | null;
  /** Newest error of the log, where something is wrong. */
  lastError: string | undefined;
  /** Undefined with `--no-probe`. */
  probe: ProbeResult | undefined;
  /** The last gateway, when it is gone although nobody asked it to end. */
  uncleanEnd: { startedAt: number } | undefined;
  /** Next step towards a running gateway; undefined while one runs. */
  advice: string | undefined;
}

/** Process that listens on the gateway's port. */
export interface Listener {
  pid: number;
  command: string;
  address: string;
  isGateway: boolean;
}

/** Part of `runtime.json`. */
export interface Runtime {
  pid: number;
  startedAt: number;
  host: string;
  /** Mode in force: a flag may have named another one than the config. */
  bind?: string;
}

export interface CollectOptions {
  requireRpc: boolean;
  connects: boolean;
  deep: boolean;
}

/** Looks at service, config, lock, port and gateway. Works with a dead gateway and with an invalid config. */
export async function collectStatus(cli: CliContext, options: CollectOptions): Promise<StatusFindings> {
  const [target, config, owner, refusal, written, at] = await Promise.all([
    cli.target(),
    cli.config(),
    cli.lockOwner(),
    readJson<{ ts: number; code: string; message: string }>(join(cli.paths.stateDir, "gateway", "last-refusal.json")),
    readJson<Runtime>(join(cli.paths.stateDir, "gateway", "runtime.json")),
    findSupervision(cli),
  ]);
  const runtime = owner && written?.pid === owner.pid ? written : undefined;
  const service = await inspectService(cli, at);
  if (runtime && service.runtime.pid === runtime.pid) service.runtime.startedAt = runtime.startedAt;
  const found: StatusFindings = {
    target,
    config,
    owner,
    runtime,
    service,
    others: options.deep ? await findOtherServices(cli, at) : undefined,
    listeners: await listenersOf(cli, target, owner),
    // A refusal from before the present gateway's start was overcome.
    lastRefusal: refusal && (runtime === undefined || refusal.ts > runtime.startedAt) ? refusal : null,
    lastError: undefined,
    probe: options.connects ? await probe(cli, options) : undefined,
    uncleanEnd: isElsewhere(target) ? undefined : await uncleanEnd(cli),
    advice: owner ? undefined : await cli.startAdvice(),
  };
  const isInTrouble = !isWell(found) || found.service.runtime.status === "failed";
  return isInTrouble ? { ...found, lastError: await newestError(cli, 0) } : found;
}

/** Did what was asked for succeed? */
export function isWell({ probe: p }: Pick<StatusFindings, "probe">): boolean {
  return p === undefined || (p.ok && p.rpc?.ok !== false);
}

/** The supervisor decides where there is one, else the lock; a gateway of another state directory is not ours to judge. */
export function runtimeOf({ owner, probe: p, service }: StatusFindings): ServiceReport["runtime"]["status"] {
  if (owner) return "running";
  if (service.installed) return service.runtime.status;
  return p?.portBusy ? "unknown" : "stopped";
}

/** The gateway that is asked is another one than that of this profile, wherever it runs. */
export function isElsewhere({ portSource }: CliTarget): boolean {
  return portSource === "remote";
}

/** A gateway elsewhere has no listeners here: what listens is the tunnel to it. */
async function listenersOf(cli: CliContext, target: CliTarget, owner: StatusFindings["owner"]): Promise<Listener[]> {
  const { port, host } = target;
  if (host !== "127.0.0.1" || isElsewhere(target)) return [];
  const holders = await cli.ports.holders(port).catch(() => []);
  const address = `${host}:${port}`;
  const known = holders.some(({ pid }) => pid === owner?.pid);
  const isOther = !known && holders.length > 0 && (await cli.ports.isGateway(port));
  const found = holders.map(({ pid, command }) => ({ pid, command, address, isGateway: pid === owner?.pid || isOther }));
  if (found.length === 0 && owner?.port === port) return [{ pid: owner.pid, command: "", address, isGateway: true }];
  return found;
}

async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch {
    return null; // never started, or never refused
  }
}
