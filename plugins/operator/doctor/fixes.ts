import { randomBytes } from "node:crypto";
import { chmod, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type CliContext, type DoctorFinding, messageOf } from "svc/sdk";
import { withValueAt } from "svc/sdk/internal";
import { seededOrigins } from "./findings.ts";
import { originsOf } from "./gather.ts";
import { pruneLogs, SPARE_LOG_BYTES } from "./logs.ts";
import { reinstallService } from "./service-checks.ts";

/** One thing that was done, or why it was not. */
export interface FixResult {
  id: string;
  path?: string;
  done: boolean;
  message: string;
}

/** Mends what can be mended without a decision; config changes are one write, so there is one backup. */
export async function applyFixes(cli: CliContext, findings: readonly DoctorFinding[]): Promise<FixResult[]> {
  const results: FixResult[] = [];
  for (const finding of findings.filter((f) => f.fixable && f.path !== undefined)) {
    const mend = fileFixes[finding.id] ?? (isNotice(finding) ? acknowledge : undefined);
    if (mend) results.push(await attempt(finding, () => mend(finding.path as string)));
    if (cleanedUp.has(finding.id)) results.push(await attempt(finding, () => cleanUpSessions(cli)));
    if (finding.id === "memory/index-identity") results.push(await attempt(finding, () => rebuildIndex(cli, finding.path as string)));
  }
  // One installation ends all drift of a service, and takes the port and the mode that were just mended.
  const drift = findings.find(({ id, fixable }) => fixable && id.startsWith("service/"));
  const keys = findings.filter((f) => f.fixable && Object.hasOwn(configFixes, f.id));
  if (keys.length > 0) results.push(...(await fixConfig(cli, keys)));
  if (drift) results.push(await attempt(drift, () => reinstallService(cli)));
  return results;
}

const fileFixes: Record<string, (path: string) => Promise<string>> = {
  "config/perms": tighten,
  "state/perms": tighten,
  "state/leftovers": removeFolder,
  "lock/stale": remove,
  "disk/free": (path) => pruneLogs(dirname(path), SPARE_LOG_BYTES),
  "logs/size": (path) => pruneLogs(dirname(path)),
  "memory/orphan-temp": remove,
};

/** Something that happened; there is nothing to mend but the memory of it. */
function isNotice({ path }: DoctorFinding): boolean {
  return path !== undefined && basename(dirname(path)) === "notices";
}

async function acknowledge(path: string): Promise<string> {
  await rm(path, { force: true });
  return "acknowledged; it is not shown any more";
}

async function remove(path: string): Promise<string> {
  await rm(path, { force: true });
  return "removed";
}

async function removeFolder(path: string): Promise<string> {
  await rm(path, { recursive: true, force: true });
  return "removed";
}

/** Findings about sessions whose limits the operator has set. */
const cleanedUp: ReadonlySet<string> = new Set(["sessions/disk", "sessions/orphans"]);

async function cleanUpSessions(cli: CliContext): Promise<string> {
  const { expired, surplus, archives, forSpace } = await cli.withClient((client) => client.request("sessions.cleanup", {}));
  return `deleted ${expired + surplus} sessions and ${archives} archived transcripts, ${forSpace} more for space`;
}

/** Resolves once the gateway has begun: a new index takes from seconds to hours, and searches go on meanwhile. */
async function rebuildIndex(cli: CliContext, path: string): Promise<string> {
  const agentId = /^agents\.list\[id=([^\]]+)\]/.exec(path)?.[1];
  const params = { ...(agentId === undefined ? {} : { agentId }), force: true };
  await cli.withClient(
    (client) =>
      new Promise<void>((resolve, reject) => {
        const onAccepted = () => resolve();
        client.request("memory.index", params, { onAccepted }).then(() => resolve(), reject);
      }),
  );
  return "a new index is being made";
}

async function tighten(path: string): Promise<string> {
  const seen = await stat(path);
  const mode = (seen.mode & 0o700) | (seen.isDirectory() ? 0o700 : 0o600);
  await chmod(path, mode);
  return `mode is now 0${mode.toString(8)}`;
}

/** One change of the config. */
interface ConfigFix {
  path: string[];
  value: unknown;
  message: string;
}

const freshSecret = () => randomBytes(32).toString("base64url");

const configFixes: Record<string, (cli: CliContext, finding: DoctorFinding) => ConfigFix | Promise<ConfigFix>> = {
  "config/mode-missing": () => ({ path: ["gateway", "mode"], value: "local", message: "gateway.mode is now local" }),
  "auth/missing": () => ({
    path: ["gateway", "auth", "token"],
    value: freshSecret(),
    message: "a fresh token is in gateway.auth.token",
  }),
  "auth/hook-token-reuse": () => ({
    path: ["hooks", "token"],
    value: freshSecret(),
    message: "a fresh token is in hooks.token; senders need it, too",
  }),
  "controlui/origins": async (cli) => {
    const { config } = await (await cli.configFile()).load();
    const value = seededOrigins((await originsOf(cli, config)) ?? { port: (await cli.target()).port, scheme: "http" });
    return { path: ["gateway", "controlUi", "allowedOrigins"], value, message: `it is now ${value.join(", ")}` };
  },
  "plugins/load": switchOff,
  "plugins/missing": switchOff,
  "plugins/version": switchOff,
};

/** It does not run anyway; the entry stays, with its config. */
function switchOff(_: CliContext, { path = "" }: DoctorFinding): ConfigFix {
  const id = path.split(".")[2] ?? "";
  return {
    path: ["plugins", "entries", id, "enabled"],
    value: false,
    message: `plugin "${id}" is switched off; svc plugins enable ${id} undoes it`,
  };
}

async function fixConfig(cli: CliContext, findings: readonly DoctorFinding[]): Promise<FixResult[]> {
  const file = await cli.configFile();
  const fixes = await Promise.all(
    findings.map(async (one) => ({ id: one.id, ...(await (configFixes[one.id] as (typeof configFixes)[string])(cli, one)) })),
  );
  const apply = (source: unknown) => fixes.reduce<unknown>((tree, fix) => withValueAt(tree, fix.path, fix.value), source);
  const failed = await file.write({ kind: "edit", apply }).then(() => undefined, messageOf);
  const kept = ` (the config before it: ${basename(file.path)}.bak, or .bak.1 when it was written twice)`;
  return fixes.map(({ id, path, message }) => ({
    id,
    path: path.join("."),
    done: failed === undefined,
    message: failed ?? message + kept,
  }));
}

async function attempt({ id, path = "" }: DoctorFinding, mend: () => Promise<string>): Promise<FixResult> {
  try {
    return { id, path, done: true, message: await mend() };
  } catch (error) {
    return { id, path, done: false, message: messageOf(error) };
  }
}
