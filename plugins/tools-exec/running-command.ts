import { type ChildProcess, spawn } from "node:child_process";
import { endMarked } from "./left-behind.ts";
import { Output } from "./output.ts";

/** Time between the polite and the hard end of a command. */
const KILL_AFTER_MS = 5_000;
/** Input that waits to be read by a command. */
export const MAX_UNREAD_BYTES = 256 * 1024;

export interface Started {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Mark in the environment of all that it starts; undefined where they cannot outlive it. */
  mark?: string | undefined;
}

/** End of a command. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why it did not end by itself, or did not begin. */
  reason?: "timed-out" | "killed" | "not-started";
  message?: string;
}

/** A command with its process group, its output and its limit of time. */
export class RunningCommand {
  readonly output = new Output();
  readonly done: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #limit: NodeJS.Timeout;
  #reason: Ended["reason"];
  #hardEnd: NodeJS.Timeout | undefined;
  ended: Ended | undefined;

  constructor({ file, args, cwd, env, timeoutMs, mark }: Started) {
    // A group of its own: what it started ends with it.
    this.#child = spawn(file, [...args], { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
    const { stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream?.on("error", () => undefined);
    for (const stream of [stdout, stderr]) stream?.on("data", (chunk: Buffer) => this.output.add(chunk));
    this.#limit = setTimeout(() => this.end("timed-out"), timeoutMs);
    this.done = new Promise((resolve) => {
      const settle = (ended: Ended) => {
        if (this.ended) return;
        this.ended = ended;
        clearTimeout(this.#limit);
        clearTimeout(this.#hardEnd);
        this.#signal("SIGKILL"); // what it left behind in its group
        if (mark === undefined) resolve(ended);
        else void endMarked(mark).then(() => resolve(ended));
      };
      this.#child.once("error", (error) => settle({ code: null, signal: null, reason: "not-started", message: error.message }));
      this.#child.once("exit", (code, signal) => {
        // A grandchild may hold the pipes open for ever.
        const late = setTimeout(() => {
          stdout?.destroy();
          stderr?.destroy();
        }, 200);
        this.#child.once("close", () => clearTimeout(late));
        const ended: Ended = { code, signal, ...(this.#reason ? { reason: this.#reason } : {}) };
        this.#child.once("close", () => settle(ended));
        setTimeout(() => settle(ended), 500);
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Ends the whole group: first politely, after 5 s for good. */
  end(reason: "timed-out" | "killed"): void {
    if (this.ended || this.#hardEnd) return;
    this.#reason = reason;
    this.#signal("SIGTERM");
    this.#hardEnd = setTimeout(() => this.#signal("SIGKILL"), KILL_AFTER_MS);
  }

  /** Writes to its standard input: `full` while it has not read what was written before. */
  write(text: string): "written" | "closed" | "full" {
    const { stdin } = this.#child;
    if (this.ended || !stdin?.writable) return "closed";
    if (stdin.writableLength + Buffer.byteLength(text) > MAX_UNREAD_BYTES) return "full";
    stdin.write(text);
    return "written";
  }

  closeInput(): void {
    this.#child.stdin?.end();
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // the group is gone
    }
  }
}
