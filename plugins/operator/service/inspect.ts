import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { CliContext } from "svc/sdk";
import type { ManagerKind } from "./definition.ts";
import { type DriftIssue, driftOf } from "./drift.ts";
import { exists } from "./host.ts";
import type { FoundDefinition, ManagerState } from "./manager.ts";
import { readMetadata, sha256 } from "./metadata.ts";
import { nodeVersion, specFor } from "./plan.ts";
import { commandFor, type Supervision } from "./supervision.ts";
import { lingers } from "./systemd.ts";

/** Supervisor of this profile as commands show it. */
export interface ServiceReport {
  manager: ManagerKind;
  label: string;
  installed: boolean;
  enabled: boolean;
  definitionPath: string | null;
  runtime: { status: ManagerState["status"]; pid: number | null; startedAt: number | null; lastExit: number | null };
  installedPort: number | null;
  /** Config file that the service goes by; null when nothing is installed. */
  configPath: string | null;
  audit: { ok: boolean; issues: DriftIssue[] };
  /** Why the supervisor could not be asked. */
  problem?: string;
}

/** Looks at the service of this profile; changes nothing. */
export async function inspectService(cli: CliContext, at: Supervision): Promise<ServiceReport> {
  const { manager, found } = at;
  const owner = await cli.lockOwner();
  const [first] = found;
  if (!first) return notInstalled(manager.label, owner?.pid);
  const state = await manager.state(first);
  // Where the supervisor does not say, lock and port do.
  const status = state.status === "unknown" && state.problem === undefined ? (owner ? "running" : "stopped") : state.status;
  const known = state.problem !== undefined && owner ? "running" : status;
  const issues = await audit(cli, at, { first, state });
  return {
    manager: first.manager,
    label: manager.label,
    installed: true,
    enabled: state.isEnabled,
    definitionPath: first.path,
    runtime: {
      status: known,
      pid: state.pid ?? (known === "running" ? (owner?.pid ?? null) : null),
      startedAt: null,
      lastExit: state.lastExit,
    },
    installedPort: first.program?.port ?? null,
    configPath: await configOf(cli, first),
    audit: { ok: issues.every(({ severity }) => severity === "info"), issues },
    ...(state.problem === undefined ? {} : { problem: state.problem }),
  };
}

function notInstalled(label: string, pid: number | undefined): ServiceReport {
  const status = pid === undefined ? "stopped" : "running";
  return {
    manager: "none",
    label,
    installed: false,
    enabled: false,
    definitionPath: null,
    runtime: { status, pid: pid ?? null, startedAt: null, lastExit: null },
    installedPort: null,
    configPath: null,
    audit: { ok: true, issues: [] },
  };
}

/** Config file that the service goes by: of its definition and its file of variables, as its process reads them. */
async function configOf({ paths }: CliContext, { program }: FoundDefinition): Promise<string> {
  const text = await readFile(join(paths.stateDir, "service", "gateway.env"), "utf8").catch(() => "");
  const { SVC_CONFIG_PATH: path, SVC_STATE_DIR: stateDir = paths.stateDir } = { ...parseEnv(text), ...program?.env };
  return path ?? join(stateDir, "svc.json");
}

async function audit(
  cli: CliContext,
  { host, manager, found }: Supervision,
  { first, state }: { first: FoundDefinition; state: ManagerState },
): Promise<DriftIssue[]> {
  const reinstall = commandFor(cli, "gateway install --force");
  const issues = ownershipIssues(found);
  const { program } = first;
  const { port } = await cli.ports.ofNextStart();
  const expected = await specFor(cli, host, { nodePath: program?.nodePath ?? process.execPath, port });
  const recorded = await readMetadata(cli.paths.stateDir);
  const drift = driftOf({
    path: first.path,
    text: first.text,
    program,
    expected,
    // A unit of the system has the words of its administrator.
    render: (spec) => (first.isForeign ? first.text : (manager.files(spec)[0]?.content ?? "")),
    recordedSha256: recorded?.definitionSha256,
    sha256: sha256(first.text),
    entryExists: program !== undefined && (await exists(program.entryPath)),
    nodeVersion: program && (await nodeVersion(host, program.nodePath)),
    isStale: state.isStale,
    reinstall,
  });
  if (first.isForeign) return [...issues, systemOwner(first), ...drift.map((issue) => forAdministrator(issue, first))];
  const linger = host.platform === "linux" && (await lingers(host)) === false ? [noLinger(host.user)] : [];
  return [...issues, ...drift, ...linger];
}

function ownershipIssues(found: readonly FoundDefinition[]): DriftIssue[] {
  const [first, ...others] = found;
  return others.map((other): DriftIssue => {
    const message = `both ${first?.manager} (${first?.path}) and ${other.manager} (${other.path}) start this gateway; they compete for its port`;
    const fix =
      other.manager === "systemd-user"
        ? `systemctl --user disable --now ${other.path.split("/").at(-1)} && rm ${other.path}`
        : "svc gateway uninstall, then svc gateway install";
    return { id: "service/duplicate", severity: "warning", message, fix, isReinstall: false };
  });
}

function systemOwner({ path }: FoundDefinition): DriftIssue {
  const message = `the service of the system ${path} owns this gateway; svc installs none of the user beside it, and changes nothing there`;
  return { id: "service/system-unit-owner", severity: "info", message, fix: "edit it as root", isReinstall: false };
}

/** The same issue where svc writes nothing. */
function forAdministrator(issue: DriftIssue, { path }: FoundDefinition): DriftIssue {
  return { ...issue, fix: `change ${path} as root and load it again`, isReinstall: false };
}

function noLinger(user: string): DriftIssue {
  const message = `the gateway ends when ${user} logs out`;
  return { id: "service/linger", severity: "warning", message, fix: `loginctl enable-linger ${user}`, isReinstall: false };
}
