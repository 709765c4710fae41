import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { release } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { execErrors } from "./errors.ts";

/** Folder of the workspace inside the sandbox. */
export const INSIDE = "/work";
const PROBE_MS = 5_000;

/** Place and surroundings of a command. */
export interface SandboxPlan {
  workspace: string;
  /** Folder below the workspace, `""` for itself. */
  below: string;
  /** Variables of the call, which come to those that bubblewrap itself has. */
  own: Readonly<Record<string, string>>;
  network: boolean;
}

/**
 * Arguments of bubblewrap for a command: of the machine's files it sees programs and libraries, read-only, and its workspace; no other process, no network, no home folder; no user of its own
 * rights. It does not limit memory. The variables of bubblewrap go on to the command: as arguments everybody on the machine could read them.
 */
export function bwrapArgs({ workspace, below, own, network }: SandboxPlan): string[] {
  const readOnly = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/localtime",
  ];
  const variables = Object.entries({ ...own, HOME: INSIDE }).flatMap(([name, value]) => ["--setenv", name, value]);
  return [
    ...["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"],
    ...["--disable-userns", "--die-with-parent", "--new-session"],
    ...(network
      ? ["--share-net", "--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf", "--ro-bind-try", "/etc/hosts", "/etc/hosts"]
      : []),
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin"],
    ...["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
    ...readOnly.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", workspace, INSIDE],
    ...["--chdir", below === "" ? INSIDE : `${INSIDE}/${below}`],
    ...variables,
    "--",
  ];
}

/** Programs that keep a command, and what it may take. */
export interface Keeping {
  sandbox: string | undefined;
  prlimit: string | undefined;
  plan: SandboxPlan;
  limits: { memoryMb: number; processes?: number };
}

/**
 * A command with what keeps it in front. The number of processes is limited in the sandbox alone, whose user has no others: outside of it all processes of the user count, those of the gateway
 * among them.
 */
export function keptCommand(words: readonly string[], { sandbox, prlimit, plan, limits }: Keeping): string[] {
  const { memoryMb, processes } = limits;
  const counted = prlimit !== undefined && processes !== undefined && isSeenInside(prlimit) ? [prlimit, `--nproc=${processes}`, "--"] : [];
  const wrapped = sandbox === undefined ? words : [sandbox, ...bwrapArgs(plan), ...counted, ...words];
  return prlimit === undefined ? [...wrapped] : [prlimit, `--as=${memoryMb * 1024 * 1024}`, "--core=0", "--", ...wrapped];
}

function isSeenInside(file: string): boolean {
  return /^\/(?:usr|s?bin)\//.test(file);
}

/** Whether a number of processes holds: before 5.14 Linux counts those of the user outside of the sandbox as well, and root is exempt. */
export function holdsProcessLimit(kernel = release(), uid = process.getuid?.() ?? 0): boolean {
  const [, major = "0", minor = "0"] = /^(\d{1,4})\.(\d{1,4})/.exec(kernel) ?? [];
  return uid !== 0 && (Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 14));
}

/**
 * Bubblewrap of this machine, where it is there and may do its work; some systems forbid namespaces to users.
 * @throws {SvcError} `command-refused` when it does not say in time: a busy machine is no reason to run without it
 */
export async function findSandbox(path: string, signal: AbortSignal): Promise<string | undefined> {
  const file = process.platform === "linux" ? await findProgram("bwrap", path) : undefined;
  const args = bwrapArgs({ workspace: "/tmp", below: "", own: {}, network: false });
  return file !== undefined && (await runs(file, [...args, "true"], { path, signal })) ? file : undefined;
}

/** The program that limits memory, where it is there and runs. */
export async function findPrlimit(path: string, signal: AbortSignal): Promise<string | undefined> {
  const file = await findProgram("prlimit", path);
  return file !== undefined && (await runs(file, ["--version"], { path, signal })) ? file : undefined;
}

/** A program by its whole path: its bare name would be looked for in the `PATH` that a call may set. */
async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

function runs(file: string, args: readonly string[], { path, signal }: { path: string; signal: AbortSignal }): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const limits = { signal, timeout: PROBE_MS, killSignal: "SIGKILL" as const };
    execFile(file, args, { ...limits, env: { PATH: path } }, (error) => {
      if (error?.killed && !signal.aborted)
        reject(execErrors.commandRefused({ reason: `${file} did not answer within ${PROBE_MS / 1_000} s; try again` }));
      else resolve(error === null);
    });
  });
}
