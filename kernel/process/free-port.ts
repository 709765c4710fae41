import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, type SvcError } from "../../sdk/errors.ts";
import { hostErrors } from "./errors.ts";
import { findPortHolders, type PortHolder } from "./port-holders.ts";
import { stopServiceOf } from "./service-of.ts";

export interface ForceDeps {
  find(port: number): Promise<PortHolder[]>;
  kill(pid: number, signal: NodeJS.Signals): void;
  isFree(host: string, port: number): Promise<boolean>;
  /** Stops the service that a process belongs to, by its supervisor; undefined when it belongs to none. */
  stopService(pid: number): Promise<string | undefined>;
  /** This process and everything it descends from. */
  lineage(): Promise<ReadonlySet<number>>;
  uid: number | undefined;
}

const system: ForceDeps = {
  find: findPortHolders,
  kill: (pid, signal) => void process.kill(pid, signal),
  isFree,
  stopService: stopServiceOf,
  lineage,
  uid: process.getuid?.(),
};

/**
 * Ends whoever listens on a port (`--force`). Never this process, one it descends from, pid 1 or another user's.
 * @throws {SvcError} `port-owner-unknown`, `port-owner-protected`
 */
export async function freePort(host: string, port: number, told: (line: string) => void, deps: ForceDeps = system): Promise<void> {
  if (await deps.isFree(host, port)) return;
  const holders = await deps.find(port);
  const family = await deps.lineage();
  for (const holder of holders) {
    const reason = protection(holder, family, deps.uid);
    if (reason) throw refused(holder, port, reason);
  }
  for (const holder of holders) await end(holder, port, told, deps);
  if (!(await deps.isFree(host, port))) throw hostErrors.portOwnerUnknown({ port });
}

function protection(holder: PortHolder, family: ReadonlySet<number>, uid: number | undefined): string | undefined {
  if (holder.pid <= 1) return "it is the init process";
  if (family.has(holder.pid)) return "this command runs inside it";
  return uid && holder.uid !== undefined && holder.uid !== uid ? "it belongs to another user" : undefined;
}

async function end(holder: PortHolder, port: number, told: (line: string) => void, deps: ForceDeps): Promise<void> {
  const { pid, command } = holder;
  const unit = await deps.stopService(pid);
  if (unit !== undefined) told(`--force: stopped ${unit}, which ran "${command}" (pid ${pid}) on port ${port}`);
  try {
    await endProcess(pid, {
      isStillThere: async () => (await deps.find(port)).some((h) => h.pid === pid),
      told: (signal) => told(`--force: ${signal} to "${command}" (pid ${pid}) on port ${port}`),
      kill: deps.kill,
    });
  } catch (error) {
    throw refused(holder, port, messageOf(error));
  }
}

function refused({ pid, command }: PortHolder, port: number, reason: string): SvcError {
  return hostErrors.portOwnerProtected({ port, pid, command, reason });
}

/** A real bind, at once given back. */
async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

async function lineage(): Promise<ReadonlySet<number>> {
  const pids = new Set([process.pid, process.ppid]);
  for (let pid = process.ppid; pid > 1; pids.add(pid)) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    pid = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return pids;
}

const POLL_MS = 100;

/** Ways to watch and signal the process. */
interface EndOptions {
  /** Looked at right before each signal and until it has worked: a pid may be somebody else's by now. */
  isStillThere(): Promise<boolean>;
  /** Called with each signal before it is sent. */
  told?(signal: NodeJS.Signals): void;
  /** Default `process.kill`. */
  kill?(pid: number, signal: NodeJS.Signals): void;
}

/**
 * Ends a process: SIGTERM, up to 5 s, SIGKILL, up to 2 s. Resolves also when it is still there after that.
 * @throws what `kill` throws, other than "no such process"
 */
export async function endProcess(pid: number, options: EndOptions): Promise<void> {
  const kill = options.kill ?? ((id, signal) => void process.kill(id, signal));
  const steps = [
    { signal: "SIGTERM", limitMs: 5_000 },
    { signal: "SIGKILL", limitMs: 2_000 },
  ] as const;
  for (const { signal, limitMs } of steps) {
    if (!(await options.isStillThere())) return;
    options.told?.(signal);
    try {
      kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
      throw error;
    }
    for (let waited = 0; waited < limitMs; waited += POLL_MS) {
      await sleep(POLL_MS);
      if (!(await options.isStillThere())) return;
    }
  }
}
