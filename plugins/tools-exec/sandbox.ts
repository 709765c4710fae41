import { execFile } from "node:child_process";

/** Folder of the workspace inside the sandbox. */
export const INSIDE = "/work";
const PROBE_MS = 5_000;

/** Place and surroundings of a command. */
export interface SandboxPlan {
  workspace: string;
  /** Folder below the workspace, `""` for itself. */
  below: string;
  env: Readonly<Record<string, string>>;
  network: boolean;
}

/**
 * Arguments of bubblewrap for a command: of the machine's files it sees programs and libraries, read-only, and its workspace; no other process, no network, no home folder; no user of its own
 * rights. It does not limit memory.
 */
export function bwrapArgs({ workspace, below, env, network }: SandboxPlan): string[] {
  const readOnly = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl", "/etc/ca-certificates", "/etc/localtime"];
  const variables = Object.entries({ ...env, HOME: INSIDE }).flatMap(([name, value]) => ["--setenv", name, value]);
  return [
    ...[
      "--unshare-all",
      "--unshare-user",
      "--uid",
      "65534",
      "--gid",
      "65534",
      "--disable-userns",
      "--die-with-parent",
      "--new-session",
      "--clearenv",
    ],
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

/** Whether bubblewrap is there and may do its work; some systems forbid namespaces to users. */
export function probeSandbox(signal: AbortSignal): Promise<boolean> {
  if (process.platform !== "linux") return Promise.resolve(false);
  const args = bwrapArgs({ workspace: "/tmp", below: "", env: {}, network: false });
  return new Promise((resolve) => {
    execFile("bwrap", [...args, "true"], { signal, timeout: PROBE_MS, killSignal: "SIGKILL" }, (error) => resolve(error === null));
  });
}

/** Whether a program of this name is on the `PATH` and runs. */
export function hasPrlimit(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("prlimit", ["--version"], { signal, timeout: PROBE_MS, killSignal: "SIGKILL" }, (error) => resolve(error === null));
  });
}
