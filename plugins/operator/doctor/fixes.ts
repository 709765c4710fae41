import { randomBytes } from "node:crypto";
import { chmod, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type CliContext, type DoctorFinding, messageOf } from "svc/sdk";
import { withValueAt } from "svc/sdk/internal";
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
  "lock/stale": remove,
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
  const mode = (await stat(path)).mode & 0o700;
  await chmod(path, mode);
  return `mode is now 0${mode.toString(8)}`;
}

const configFixes: Record<string, { path: string[]; value(): unknown; message: string }> = {
  "config/mode-missing": { path: ["gateway", "mode"], value: () => "local", message: "gateway.mode is now local" },
  "auth/missing": {
    path: ["gateway", "auth", "token"],
    value: () => randomBytes(32).toString("base64url"),
    message: "a fresh token is in gateway.auth.token",
  },
};

async function fixConfig(cli: CliContext, findings: readonly DoctorFinding[]): Promise<FixResult[]> {
  const fixes = findings.map(({ id }) => ({ id, ...(configFixes[id] as (typeof configFixes)[string]) }));
  const apply = (source: unknown) => fixes.reduce<unknown>((tree, fix) => withValueAt(tree, fix.path, fix.value()), source);
  const failed = await (await cli.configFile()).write({ kind: "edit", apply }).then(() => undefined, messageOf);
  return fixes.map(({ id, path, message }) => ({ id, path: path.join("."), done: failed === undefined, message: failed ?? message }));
}

async function attempt({ id, path = "" }: DoctorFinding, mend: () => Promise<string>): Promise<FixResult> {
  try {
    return { id, path, done: true, message: await mend() };
  } catch (error) {
    return { id, path, done: false, message: messageOf(error) };
  }
}
