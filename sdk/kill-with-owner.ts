import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";

/**
 * Reads what lives, one line each time that changes: process ids, and those of groups with a minus. The pipe ends with its owner, however that ends: whoever
 * lives then is killed.
 */
const SCRIPT = 'while read -r line; do live=$line; done; for one in $live; do kill -9 "$one"; done';
const SHELL = "/bin/sh";

const living = new Set<number>();
let guard: ChildProcess | undefined;

/**
 * Has a child process killed when this process ends without having done so, `kill -9` included. For children that may hang: one in an endless loop never looks
 * at its own pipes. One shell watches all of them and is there only as long as one lives. Without `/bin/sh` there is none.
 * @param options.group the child leads a process group (`detached`), and the whole of it is killed
 */
export function killWithOwner(child: ChildProcess, { group = false }: { group?: boolean } = {}): void {
  const { pid } = child;
  if (pid === undefined || !existsSync(SHELL)) return;
  const target = group ? -pid : pid;
  living.add(target);
  tell();
  child.once("exit", () => {
    living.delete(target);
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

/** Opens it in a session of its own: what ends the owner's group from outside (a terminal, a shell) leaves it to do its work. */
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
