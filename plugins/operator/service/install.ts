import { mkdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { type CliContext, writeFileAtomic } from "svc/sdk";
import { ownValue } from "svc/sdk/internal";
import type { ServiceFile } from "./definition.ts";
import { errors } from "./errors.ts";
import { fileDiff } from "./file-diff.ts";
import { type InstallPlan, type InstallWish, planInstall } from "./plan.ts";
import { waitForReady } from "./ready.ts";
import { commandFor, endOwner, isExternal, isOwnedBy, type Supervision, waitUntilGone } from "./supervision.ts";
import { writeServiceFile } from "./write-file.ts";

/** Outcome of an installation. */
export interface InstallResult {
  status: "installed" | "replaced" | "already-installed";
  definitionPath: string;
  port: number;
  pid?: number;
  /** Something the operator should know or do. */
  notes: string[];
}

export interface InstallOptions extends InstallWish {
  /** Replace a definition that differs, and write one again that does not. */
  force?: boolean;
  /** Called with the lines in which the installed definition differs, before it is refused. */
  onDiff?(lines: string[]): void;
}

/**
 * Writes the definition of this profile's gateway, hands it to the supervisor, and waits until the gateway is ready.
 * @throws {SvcError} `service-*`, `gateway-unsupervised`, and what a start would be refused for; nothing is left half-installed
 */
export async function installService(cli: CliContext, at: Supervision, options: InstallOptions = {}): Promise<InstallResult> {
  requireAllowed(cli, at, "install");
  await requireStartable(cli);
  const plan = await planInstall(cli, at.host, at.manager, options);
  const { port } = plan.spec;
  const before = await readAll(plan.files);
  const result = { definitionPath: plan.files[0]?.path ?? "", port };
  const isInstalled = at.found.length > 0;
  if (isInstalled && options.force !== true) {
    const lines = compared(plan.files).flatMap((file) => fileDiff(file, before.get(file.path)));
    if (lines.length === 0) {
      const idle = (await cli.lockOwner()) ? [] : [`it is not running; start it with: ${commandFor(cli, "gateway start")}`];
      return { ...result, status: "already-installed", notes: [...plan.warnings, ...idle] };
    }
    options.onDiff?.(lines);
    throw errors.serviceDiffers({ path: result.definitionPath, command: commandFor(cli, "gateway install --force") });
  }
  await at.manager.preflight();
  const old = await requireOurs(cli, at, port);
  const [definition] = plan.files;
  const copy = definition && (await keepOld(cli, definition, before, definition.content));
  const since = Date.now();
  await write(cli, at, { plan, before, old });
  const { pid } = await waitForReady(cli, { port, since, oldPid: old });
  const kept = copy === undefined ? [] : [`the definition before is kept as ${copy}`];
  const notes = [...plan.warnings, ...kept, ...(await at.manager.advice())];
  return { ...result, status: isInstalled ? "replaced" : "installed", pid, notes };
}

/** Refuses where the operator has made somebody else the owner. @throws {SvcError} `service-owned-elsewhere` */
export function requireAllowed(cli: CliContext, { found }: Supervision, verb: string): void {
  const foreign = found.find(({ isForeign }) => isForeign);
  if (foreign) {
    const advice = `a service of the user beside it would compete for state and port; change or remove ${foreign.path} as root`;
    throw errors.serviceOwnedElsewhere({ verb, owner: `the service of the system ${basename(foreign.path)}`, advice });
  }
  if (isExternal(cli)) {
    const advice = "change it there, or unset SVC_SERVICE_REPAIR_POLICY";
    throw errors.serviceOwnedElsewhere({ verb, owner: "by SVC_SERVICE_REPAIR_POLICY=external another supervisor", advice });
  }
}

/** @throws {SvcError} `service-mode`, and what refuses a start */
export async function requireStartable(cli: CliContext): Promise<void> {
  const file = await cli.configFile();
  const { exists, source } = await file.load();
  const mode = ownValue(ownValue(source, "gateway"), "mode");
  if (mode !== "local") {
    const advice = exists ? `set it with: ${commandFor(cli, "config set gateway.mode local")}` : `set up with: ${commandFor(cli, "setup")}`;
    throw errors.serviceMode({ mode: exists ? JSON.stringify(mode ?? null) : "no config", advice });
  }
  await file.checkStart();
}

/** The pid of the supervised gateway that runs, if one does. @throws {SvcError} `gateway-unsupervised`, `service-port-taken` */
async function requireOurs(cli: CliContext, { manager, found }: Supervision, port: number): Promise<number | undefined> {
  const owner = await cli.lockOwner();
  if (owner) {
    const isOurs = found[0] !== undefined && isOwnedBy(await manager.state(found[0]), owner.pid);
    // One that ended meanwhile, to be started anew, is nobody's.
    const isThere = isOurs || (await cli.lockOwner())?.pid === owner.pid;
    if (!isOurs && isThere) throw errors.gatewayUnsupervised({ pid: owner.pid, command: commandFor(cli, "gateway stop") });
  }
  const holder = (await cli.ports.holders(port)).find(({ pid }) => pid !== owner?.pid);
  if (holder) throw errors.servicePortTaken({ port, ...holder });
  return owner?.pid;
}

type Contents = Map<string, Buffer | undefined>;

async function write(
  cli: CliContext,
  { host, manager }: Supervision,
  { plan, before, old }: { plan: InstallPlan; before: Contents; old: number | undefined },
): Promise<void> {
  try {
    await manager.prepare();
    // launchd makes the files of its logs, and not their folder.
    await mkdir(join(cli.paths.stateDir, "logs"), { recursive: true, mode: 0o700 });
    if (old !== undefined && host.platform === "win32") await endOwner(cli);
    if (old !== undefined && host.platform === "darwin") await waitUntilGone(cli, old);
    for (const file of plan.files) await writeServiceFile(file);
    await manager.activate();
  } catch (error) {
    await putBack(before);
    // The gateway that ran before is to run again.
    if (old !== undefined) await manager.activate().catch(() => undefined);
    throw error;
  }
}

/** Keeps the definition that is about to be replaced, which may hold an operator's own lines. */
async function keepOld(
  { paths }: CliContext,
  { path, encoding }: ServiceFile,
  before: Contents,
  content: string,
): Promise<string | undefined> {
  const old = before.get(path);
  if (old === undefined || old.toString(encoding ?? "utf8") === content) return undefined;
  const copy = join(paths.stateDir, "service", `${basename(path)}.bak`);
  await writeFileAtomic(copy, old, { mode: 0o600 });
  return copy;
}

/** Files as they were before: nothing half-installed stays. */
async function putBack(before: Contents): Promise<void> {
  for (const [path, content] of before) {
    if (content === undefined) await rm(path, { force: true });
    else await writeFileAtomic(path, content);
  }
}

async function readAll(files: readonly ServiceFile[]): Promise<Contents> {
  const read = files.map(async ({ path }) => [path, await readFile(path).catch(() => undefined)] as const);
  return new Map(await Promise.all(read));
}

/** Files that decide what is started; the record of the installation follows from them. */
function compared(files: readonly ServiceFile[]): ServiceFile[] {
  return files.filter(({ path }) => basename(path) !== "metadata.json");
}
