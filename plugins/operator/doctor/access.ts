import { access, constants, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { OwnFinding } from "./checks.ts";

/** File or folder that this user may not use as a gateway has to. */
export interface DeniedFile {
  path: string;
  kind: "config" | "state";
  /** The right that is refused. */
  lacks: "read" | "write";
  mode: number;
  isOwn: boolean;
}

/** Facts about the files of a gateway and the user who runs it. */
export interface AccessEvidence {
  stateDir: string;
  user: string;
  denied: DeniedFile[];
}

/** Files that a gateway of this user would fail at. What is missing is not denied: a start makes it. */
export async function gatherAccess({ stateDir, configPath }: { stateDir: string; configPath: string }): Promise<AccessEvidence> {
  const user = userOf();
  if (process.platform === "win32") return { stateDir, user, denied: [] };
  const state = ["", "gateway", "logs", "workspace", "state.sqlite", "state.sqlite-wal", "state.sqlite-shm"].map((name) =>
    join(stateDir, name),
  );
  const paths = [...state.map((path) => ({ path, kind: "state" as const })), { path: configPath, kind: "config" as const }];
  if (dirname(configPath) !== stateDir) paths.push({ path: dirname(configPath), kind: "config" });
  const found = await Promise.all(paths.map(judge));
  return { stateDir, user, denied: found.flatMap((one) => one ?? []) };
}

/** A name that a shell takes as one word; a user without an entry has its number. */
function userOf(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "");
  }
}

async function judge({ path, kind }: Pick<DeniedFile, "path" | "kind">): Promise<DeniedFile | undefined> {
  const seen = await stat(path).catch(() => undefined);
  if (!seen) return undefined;
  const may = (mode: number) => access(path, mode).then(() => true, isRefused);
  const enter = seen.isDirectory() ? constants.X_OK : 0;
  const lacks = !(await may(constants.R_OK | enter)) ? "read" : !(await may(constants.W_OK)) ? "write" : undefined;
  return lacks && { path, kind, lacks, mode: seen.mode & 0o777, isOwn: seen.uid === process.getuid?.() };
}

/** A file system that takes no writes is no matter of permissions. */
function isRefused(error: NodeJS.ErrnoException): boolean {
  return error.code !== "EACCES" && error.code !== "EPERM";
}

/** Findings about denied files: those of this user are given back by --fix, those of another one by an administrator. Pure. */
export function accessFindings({ stateDir, user, denied }: AccessEvidence): OwnFinding[] {
  return denied.map(({ path, kind, lacks, mode, isOwn }) => ({
    id: kind === "config" ? "config/perms" : "state/perms",
    severity: "error",
    path,
    message: `mode 0${mode.toString(8).padStart(3, "0")}${isOwn ? "" : ", of another user"}: ${user} may not ${lacks} it, so no gateway of that user can work`,
    ...(isOwn
      ? { fix: "svc doctor --fix gives its owner the right", fixable: true }
      : { fix: `sudo chown -R ${user} ${kind === "state" ? stateDir : path}` }),
  }));
}
