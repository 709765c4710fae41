import { readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import { agentErrors } from "../errors.ts";
import { isClaim } from "../workspace/claims.ts";

/** Places that a requested workspace is compared with. */
export interface PlaceContext {
  stateDir: string;
  configPath: string;
  /** Workspaces of the other agents. */
  others: readonly string[];
  /** The caller named the folder knowingly: one with files in it may be used. */
  adopt: boolean;
  /** Whether svc itself created this folder. */
  isMadeBySvc(folder: string): Promise<boolean>;
}

/** Folders that belong to the system with everything below them. */
const systemTrees = [
  ...["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr"],
  ...["/var/cache", "/var/log", "/var/mail", "/var/run", "/var/spool"],
  ...["/System", "/Library", "/Applications", "/private/etc", "/opt/homebrew"],
];
/** Folders that hold what belongs to others; a folder of its own below them is fine. */
const sharedFolders = [
  ...["/", "/home", "/lost+found", "/media", "/mnt", "/opt", "/root", "/snap", "/srv", "/tmp", "/var", "/var/lib", "/var/tmp"],
  ...["/Users", "/Volumes", "/private", "/private/tmp", "/private/var"],
];
/** Folders of a home in which programs keep their settings and keys. */
const privateFolders = [".aws", ".azure", ".cache", ".config", ".docker", ".gnupg", ".kube", ".local", ".ssh", "Library"];

/**
 * Checks whether a folder may become the workspace of an agent, which will write files into it; links and `..` are resolved first.
 * @throws {SvcError} `agent-workspace-system` for a folder of the system, a home or the gateway itself; `agent-workspace-foreign` for one with
 *   files that svc did not write, unless `adopt`
 */
export async function checkWorkspacePlace(wanted: string, context: PlaceContext): Promise<void> {
  const folder = await realPlace(wanted);
  const reason = await reasonToRefuse(folder, context);
  if (reason) throw agentErrors.agentWorkspaceSystem({ folder: wanted, reason });
  const found = await stat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) throw agentErrors.agentWorkspaceSystem({ folder: wanted, reason: "it is a file" });
  if (context.adopt) return;
  for (const other of context.others) {
    const place = await realPlace(other);
    if (isWithin(folder, place) || isWithin(place, folder)) {
      throw agentErrors.agentWorkspaceForeign({ folder: wanted, reason: `it overlaps the workspace of another agent, ${other}` });
    }
  }
  if (!found || (await context.isMadeBySvc(folder))) return;
  const names = (await readdir(folder)).filter((name) => !isClaim(name));
  if (names.length === 0) return;
  const some = names.slice(0, 3).join(", ");
  const held = `it holds files that svc did not write (${some}${names.length > 3 ? ", …" : ""})`;
  throw agentErrors.agentWorkspaceForeign({ folder: wanted, reason: held });
}

async function reasonToRefuse(folder: string, { stateDir, configPath }: PlaceContext): Promise<string | undefined> {
  const state = await realPlace(stateDir);
  if (isWithin(folder, state) && folder !== state) {
    const [first = ""] = relative(state, folder).split(sep);
    return first.startsWith("workspace") ? undefined : "it is one of the gateway's own folders";
  }
  const home = await realPlace(homedir());
  if (isWithin(state, folder)) return "it holds the gateway's state";
  if (isWithin(await realPlace(dirname(configPath)), folder)) return "it holds the gateway's config";
  if (isWithin(home, folder)) return folder === home ? "it is a home folder" : "it holds a home folder";
  if (privateFolders.some((name) => isWithin(folder, join(home, name)))) return "programs keep settings and keys there";
  if (/^\/(?:home|Users)\/[^/]+$/.test(folder)) return "it is a home folder";
  if (systemTrees.some((tree) => isWithin(folder, tree)) || sharedFolders.includes(folder)) return "it belongs to the system";
  return process.platform === "win32" ? windowsReason(folder) : undefined;
}

function windowsReason(folder: string): string | undefined {
  const below = folder.slice(folder.indexOf(":") + 1).toLowerCase();
  if (below === "\\" || below === "") return "it is a whole drive";
  if (/^\\(?:windows|program files(?: \(x86\))?|programdata|\$recycle\.bin)(?:\\|$)/.test(below)) return "it belongs to the system";
  return /^\\users(?:\\[^\\]+)?$/.test(below) ? "it is a home folder" : undefined;
}

/** The real path of a folder; of one that is not there yet, below its nearest existing ancestor. */
async function realPlace(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const parent = dirname(path);
  return parent === path ? path : join(await realPlace(parent), basename(path));
}

/** Is the inner folder this one, or below it? */
function isWithin(inner: string, outer: string): boolean {
  const way = relative(outer, inner);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !/^([/\\]|[a-zA-Z]:)/.test(way));
}
