import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { defineErrors, messageOf, SvcError } from "../../sdk/errors.ts";
import { findPortHolders, type PortHolder } from "./port-holders.ts";

defineErrors({
  "port-owner-unknown": {
    message: "port {port} is busy but its owner could not be identified; stop it by hand or choose another --port",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "port-owner-protected": {
    message: 'port {port} is held by "{command}" (pid {pid}), which --force does not end: {reason}',
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});

const POLL_MS = 100;
const TERM_MS = 5_000;
const KILL_MS = 2_000;

export interface ForceDeps {
  find(port: number): Promise<PortHolder[]>;
  kill(pid: number, signal: NodeJS.Signals): void;
  isFree(host: string, port: number): Promise<boolean>;
  /** This process and everything it descends from. */
  lineage(): Promise<ReadonlySet<number>>;
  uid: number | undefined;
}

const system: ForceDeps = {
  find: findPortHolders,
  kill: (pid, signal) => void process.kill(pid, signal),
  isFree,
  lineage,
  uid: process.getuid?.(),
};

/**
 * Ends whoever listens on a port (`--force`): SIGTERM, up to 5 s, SIGKILL, up to 2 s. Never this process, one it descends from, pid 1 or
 * another user's.
 * @throws {SvcError} `port-owner-unknown`, `port-owner-protected`
 */
export async function freePort(host: string, port: number, told: (line: string) => void, deps: ForceDeps = system): Promise<void> {
  if (await deps.isFree(host, port)) return;
  const holders = await deps.find(port);
  if (holders.length === 0) throw new SvcError("port-owner-unknown", { port });
  const family = await deps.lineage();
  for (const holder of holders) refuseProtected(holder, port, { family, uid: deps.uid });
  for (const holder of holders) await end(holder, port, told, deps);
  if (!(await deps.isFree(host, port))) throw new SvcError("port-owner-unknown", { port });
}

function refuseProtected(holder: PortHolder, port: number, self: { family: ReadonlySet<number>; uid: number | undefined }): void {
  const refuse = (reason: string) => new SvcError("port-owner-protected", { port, pid: holder.pid, command: holder.command, reason });
  if (holder.pid <= 1) throw refuse("it is the init process");
  if (self.family.has(holder.pid)) throw refuse("this command runs inside it");
  if (self.uid !== undefined && self.uid !== 0 && holder.uid !== undefined && holder.uid !== self.uid)
    throw refuse("it belongs to another user");
}

async function end(holder: PortHolder, port: number, told: (line: string) => void, deps: ForceDeps): Promise<void> {
  for (const [signal, limitMs] of [
    ["SIGTERM", TERM_MS],
    ["SIGKILL", KILL_MS],
  ] as const) {
    // Looked up again right before each signal: the pid may be somebody else's by now.
    if (!(await stillHolds(holder, port, deps))) return;
    told(`--force: ${signal} to "${holder.command}" (pid ${holder.pid}) on port ${port}`);
    try {
      deps.kill(holder.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
      throw new SvcError("port-owner-protected", { port, pid: holder.pid, command: holder.command, reason: messageOf(error) });
    }
    for (let waited = 0; waited < limitMs; waited += POLL_MS) {
      await sleep(POLL_MS);
      if (!(await stillHolds(holder, port, deps))) return;
    }
  }
}

async function stillHolds(holder: PortHolder, port: number, deps: ForceDeps): Promise<boolean> {
  return (await deps.find(port)).some((h) => h.pid === holder.pid);
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
  for (let pid = process.ppid; pid > 1; ) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    pid = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0);
    pids.add(pid);
  }
  return pids;
}
