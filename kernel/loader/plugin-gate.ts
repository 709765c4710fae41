import type { Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { isInside } from "../../sdk/internal/files/inside.ts";
import type { PluginProblem } from "../../sdk/types/plugin-candidate.ts";

/** Check of one plugin folder. Paths are absolute. */
export interface GateRequest {
  root: string;
  entry: string;
  /** Folder whose content is scanned for plugins; the plugin's own root when the operator named it. */
  scanRoot: string;
  /** `named`: in `plugins.load.paths`, where the root may be a link; `scanned`: found in a folder of plugins. */
  trust: "named" | "scanned";
}

/** The system the files are on; tests bring their own. */
export interface TrustHost {
  platform: NodeJS.Platform;
  /** User id of this process; undefined where there is none. */
  uid: number | undefined;
}

export type GateResult = { ok: true; root: string; entry: string } | { ok: false; problem: PluginProblem };

export function currentTrustHost(): TrustHost {
  return { platform: process.platform, uid: process.getuid?.() };
}

/**
 * Decides whether code below a plugin folder may run: the entry inside the root after resolving links, nothing on the way writable by everybody, owned by
 * this user or root, and an entry with one name only. On Windows only containment.
 * @returns resolved paths of root and entry, or the problem with its code, reason and what to do
 */
export async function checkPluginPaths(request: GateRequest, host: TrustHost = currentTrustHost()): Promise<GateResult> {
  try {
    return await check(request, host);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    return blocked("path-escape", `${request.root} could not be checked: ${code}`, "make its folder readable for this user");
  }
}

async function check(request: GateRequest, host: TrustHost): Promise<GateResult> {
  const { root, trust } = request;
  if (trust === "scanned" && (await lstat(root)).isSymbolicLink()) {
    return blocked("path-escape", `${root} is a symbolic link`, "name its target in plugins.load.paths, or copy it here");
  }
  const [scanRoot, realRoot, entry] = await Promise.all([request.scanRoot, root, request.entry].map((path) => realpath(path)));
  const found = { scanRoot: scanRoot as string, root: realRoot as string, entry: entry as string };
  if (!isInside(found.root, found.entry)) {
    return blocked(
      "path-escape",
      `its entry ${request.entry} leads outside of its folder`,
      "keep every file of a plugin below its own folder",
    );
  }
  if (trust === "scanned" && !isInside(found.scanRoot, found.root)) {
    return blocked("path-escape", `${root} leads outside of ${request.scanRoot}`, "name it in plugins.load.paths");
  }
  const problem = host.platform === "win32" ? undefined : await checkModes(found, host);
  return problem ? { ok: false, problem } : { ok: true, root: found.root, entry: found.entry };
}

async function checkModes(
  { scanRoot, root, entry }: { scanRoot: string; root: string; entry: string },
  host: TrustHost,
): Promise<PluginProblem | undefined> {
  const way = [...new Set([...downTo(scanRoot, root), ...downTo(root, dirname(entry)), entry])];
  for (const path of way) {
    const facts = await stat(path);
    const problem = problemOf(path, facts, host) ?? (path === entry ? entryProblem(entry, facts) : undefined);
    if (problem) return problem;
  }
  return undefined;
}

function problemOf(path: string, facts: Stats, host: TrustHost): PluginProblem | undefined {
  if ((facts.mode & 0o002) !== 0) return problem("world-writable", `${path} can be written by everybody`, `chmod o-w ${path}`);
  if (host.uid !== undefined && facts.uid !== host.uid && facts.uid !== 0) {
    const reason = `${path} belongs to user ${facts.uid}, expected ${host.uid} or 0`;
    return problem("bad-owner", reason, `chown it to the user of the gateway, if you know where it comes from`);
  }
  return undefined;
}

function entryProblem(entry: string, facts: Stats): PluginProblem | undefined {
  if (!facts.isFile()) return problem("path-escape", `its entry ${entry} is not a regular file`, "name a file as its entry");
  if (facts.nlink === 1) return undefined;
  return problem("hardlink", `its entry ${entry} has ${facts.nlink} names (hard links)`, "copy the file, so that it has one name only");
}

/** Every folder from one down to another below it, both included. */
function downTo(from: string, to: string): string[] {
  const parts = relative(from, to).split(sep).filter(Boolean);
  return [from, ...parts.map((_, i) => join(from, ...parts.slice(0, i + 1)))];
}

function blocked(code: PluginProblem["code"], reason: string, hint: string): GateResult {
  return { ok: false, problem: problem(code, reason, hint) };
}

function problem(code: PluginProblem["code"], reason: string, hint: string): PluginProblem {
  return { state: "blocked", code, reason, hint };
}
