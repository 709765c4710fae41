import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";

/**
 * Reads which processes live, one line each time that changes. The pipe ends with the gateway, however that ends: whoever lives then is killed.
 * A guest in an endless loop never looks at its own pipes, and its permissions allow it no thread that could.
 */
const SCRIPT = 'while read -r line; do live=$line; done; for pid in $live; do kill -9 "$pid"; done';
const SHELL = "/bin/sh";

const living = new Set<number>();
let watcher: ChildProcess | undefined;

/**
 * Has a child process killed when this process ends without having done so, `kill -9` included. One shell watches all of them and is there only as
 * long as one lives. Without `/bin/sh` there is none: a guest then ends when it next looks at its input, one in an endless loop not at all.
 */
export function watchProcess(child: ChildProcess): void {
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
  watcher ??= living.size > 0 ? openWatcher() : undefined;
  watcher?.stdin?.write(`${[...living].join(" ")}\n`);
  if (living.size > 0) return;
  watcher?.stdin?.end();
  watcher = undefined;
}

/** In a session of its own: what ends the gateway's group from outside (a terminal, a shell) leaves it to do its work. */
function openWatcher(): ChildProcess {
  const made = spawn(SHELL, ["-c", SCRIPT], { env: {}, cwd: "/", stdio: ["pipe", "ignore", "ignore"], detached: true });
  const forget = () => {
    if (watcher === made) watcher = undefined;
  };
  made.once("error", forget);
  made.once("exit", forget);
  // It may end while it is written to; the next change starts another.
  made.stdin?.on("error", forget);
  made.unref();
  (made.stdin as unknown as { unref(): void }).unref();
  return made;
}
