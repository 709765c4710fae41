import { randomBytes } from "node:crypto";
import { cp, lstat, mkdir, realpath, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { messageOf } from "svc/sdk";

/** Folders around the files of an agent that is being deleted. */
export interface TrashPlaces {
  stateDir: string;
  configPath: string;
  /** Workspaces of the agents that stay. */
  others: readonly string[];
  /** Whether svc itself created this folder: what somebody else made is never moved. */
  isMadeBySvc(folder: string): Promise<boolean>;
  /** Epoch ms, for the name of the folder. */
  now: number;
}

/** Folder the files went to, when there were any; why some stay where they are. */
export interface Trashed {
  trash?: string;
  kept?: string[];
}

/**
 * Moves the folders of an agent to a folder of their own in the trash of the state directory; nothing is erased. A folder that holds more than the
 * agent's files (the state directory, a home, another agent's workspace) stays, and so does one that is only a link, or that svc did not create.
 */
export async function moveToTrash(agentId: string, folders: Readonly<Record<string, string>>, places: TrashPlaces): Promise<Trashed> {
  const stamp = new Date(places.now).toISOString().replace(/[:.]/g, "-");
  const trash = join(places.stateDir, "trash", "agents", `${agentId}-${stamp}-${randomBytes(2).toString("hex")}`);
  const kept: string[] = [];
  let isUsed = false;
  for (const [name, folder] of Object.entries(folders)) {
    const reason = await reasonToStay(folder, places);
    if (reason === "absent") continue;
    if (reason) kept.push(`${folder}: ${reason}`);
    else {
      await mkdir(trash, { recursive: true, mode: 0o700 });
      const failed = await move(folder, join(trash, name)).then(() => undefined, messageOf);
      if (failed === undefined) isUsed = true;
      else kept.push(`${folder}: ${failed}`);
    }
  }
  return { ...(isUsed ? { trash } : {}), ...(kept.length > 0 ? { kept } : {}) };
}

async function reasonToStay(folder: string, { stateDir, configPath, others, isMadeBySvc }: TrashPlaces): Promise<string | undefined> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found) return "absent";
  if (!found.isDirectory()) return "is no folder, but a link or a file";
  const real = await realpath(folder);
  for (const guarded of [stateDir, dirname(configPath), homedir(), process.cwd(), ...others]) {
    const place = await realpath(guarded).catch(() => guarded);
    if (holds(real, place)) return "holds other things besides";
  }
  if (!(await isMadeBySvc(folder))) return "svc did not create it, so it stays where it is";
  return undefined;
}

/** Is the place this folder, or below it? */
function holds(folder: string, place: string): boolean {
  const way = relative(folder, place);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !/^([/\\]|[a-zA-Z]:)/.test(way));
}

/** Renames within one disk; otherwise the copy is complete before anything is removed. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, errorOnExist: true, force: false });
    await rm(from, { recursive: true, force: true });
  }
}
