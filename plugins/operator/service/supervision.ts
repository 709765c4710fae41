import type { CliContext } from "svc/sdk";
import { createManager } from "./create-manager.ts";
import { STOP_TIMEOUT_MS } from "./definition.ts";
import { errors } from "./errors.ts";
import { type ServiceHost, serviceHost } from "./host.ts";
import type { FoundDefinition, ManagerState, ServiceManager } from "./manager.ts";

/** A profile's supervisor with what it holds. */
export interface Supervision {
  host: ServiceHost;
  manager: ServiceManager;
  /** Definitions of this profile; the first is in force. */
  found: FoundDefinition[];
}

/** Looks for the supervisor of this profile; asks none. @throws {SvcError} `service-platform-unknown` */
export async function findSupervision(cli: CliContext, host = serviceHost(cli)): Promise<Supervision> {
  const manager = createManager(host, cli.paths);
  return { host, manager, found: await manager.find() };
}

/** True when the operator has given the gateway to another owner than svc. */
export function isExternal({ env }: Pick<CliContext, "env">): boolean {
  return env.SVC_SERVICE_REPAIR_POLICY?.trim() === "external";
}

/** This command runs in a process that the service started, and ends with it. */
export function isInside({ env }: Pick<CliContext, "env">, { manager, host }: Supervision): boolean {
  const marker = env.SVC_SERVICE_MARKER?.trim();
  return (
    marker !== undefined && marker !== "" && (host.platform === "darwin" ? marker === manager.label : `${marker}.service` === manager.label)
  );
}

/** A command of this program for this profile. */
export function commandFor({ paths }: Pick<CliContext, "paths">, words: string): string {
  return `svc ${paths.profile === "" ? "" : `--profile ${paths.profile} `}${words}`;
}

/**
 * The definition in force.
 * @throws {SvcError} `service-not-installed`
 */
export function requireInstalled(cli: CliContext, { found }: Supervision, verb: string): FoundDefinition {
  if (!found[0]) throw errors.serviceNotInstalled({ verb, command: commandFor(cli, "gateway install") });
  return found[0];
}

/** Does the process that holds the lock belong to the supervisor? Where the supervisor does not know its process, every one of this profile does. */
export function isOwnedBy(state: ManagerState, pid: number): boolean {
  return state.status === "unknown" ? state.problem === undefined : state.pid === pid;
}

const POLL_MS = 100;
/** Longest wait for a gateway to drain. */
const END_LIMIT_MS = STOP_TIMEOUT_MS + 5_000;

/**
 * Asks the gateway that holds this profile's lock to end, and waits until it is gone; only ever the process that the lock names at that moment.
 * @throws {SvcError} `gateway-not-ended`
 */
export async function endOwner(cli: Pick<CliContext, "lockOwner" | "signal">, limitMs = END_LIMIT_MS): Promise<number | undefined> {
  const owner = await cli.lockOwner();
  if (!owner) return undefined;
  try {
    process.kill(owner.pid, "SIGTERM");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH")
      throw errors.gatewayNotEnded({ pid: owner.pid, reason: code === "EPERM" ? "belongs to another user" : String(code) });
  }
  await waitUntilGone(cli, owner.pid, limitMs);
  return owner.pid;
}

/** Waits until this process does not hold the lock any more. @throws {SvcError} `gateway-not-ended` */
export async function waitUntilGone(cli: Pick<CliContext, "lockOwner" | "signal">, pid: number, limitMs = END_LIMIT_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  while ((await cli.lockOwner())?.pid === pid) {
    if (performance.now() >= deadline || cli.signal.aborted) {
      throw errors.gatewayNotEnded({ pid, reason: `did not end within ${Math.round(limitMs / 1_000)} s; see svc logs` });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
