import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { messageOf, type SvcError } from "../../sdk/errors.ts";
import { hostErrors } from "../../sdk/host/errors.ts";
import { endProcess } from "./end-process.ts";
import { findPortHolders, type PortHolder } from "./port-holders.ts";

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
