import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";

/**
 * Reads the process groups that live, one line each time that changes. The pipe ends with the gateway, however that ends: groups that live then are killed.
 */
const SCRIPT = 'while read -r line; do live=$line; done; for group in $live; do kill -9 "-$group"; done';
const SHELL = "/bin/sh";

const living = new Set<number>();
let guard: ChildProcess | undefined;

/**
 * Has the process group of a child killed when this process ends without having done so, `kill -9` included: an engine that hangs would hang for ever. One
 * shell watches all groups and is there only as long as one lives. Without `/bin/sh` there is none.
 */
export function guardGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || !existsSync(SHELL)) return;
  living.add(pid);
  tell();
  child.once("exit", () => {
    living.delete(pid);
    tell();
  });
}

function tell(): void {
  guard ??= living.size > 0 ? openGuard() : undefined;
  guard?.stdin?.write(`${[...living].join(" ")}\n`);
  if (living.size > 0) return;
  guard?.stdin?.end();
  guard = undefined;
}

/** Opens it in a session of its own: what ends the group of the gateway from outside (a terminal, a shell) leaves it to do its work. */
function openGuard(): ChildProcess {
  const made = spawn(SHELL, ["-c", SCRIPT], { env: {}, cwd: "/", stdio: ["pipe", "ignore", "ignore"], detached: true });
  const forget = () => {
    if (guard === made) guard = undefined;
  };
  made.once("error", forget);
  made.once("exit", forget);
  // It may end while it is written to; the next change starts another.
  made.stdin?.on("error", forget);
  made.unref();
  (made.stdin as unknown as { unref(): void }).unref();
  return made;
}
