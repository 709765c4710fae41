import { execFile } from "node:child_process";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { promisify } from "node:util";

/** A process that listens on a port. */
export interface PortHolder {
  pid: number;
  command: string;
  /** Undefined where the system does not tell. */
  uid: number | undefined;
}

/** Finds the processes that listen on a TCP port: from `/proc` on Linux, else by `lsof`. Processes of others may be invisible. */
export async function findPortHolders(port: number, procRoot = "/proc"): Promise<PortHolder[]> {
  return process.platform === "linux" ? fromProc(port, procRoot) : fromLsof(port);
}

async function fromProc(port: number, procRoot: string): Promise<PortHolder[]> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`${procRoot}/net/${name}`, "utf8").catch(() => "")));
  const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port)));
  if (inodes.size === 0) return [];
  const pids = (await readdir(procRoot)).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => holderOf(`${procRoot}/${pid}`, Number(pid), inodes)));
  return found.filter((h): h is PortHolder => h !== undefined);
}

/** Socket inodes of the rows in state LISTEN (`0A`) on a port. */
export function listeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((cells) => cells[1]?.endsWith(suffix) && cells[3] === "0A")
    .flatMap((cells) => cells[9] ?? []);
}

async function holderOf(folder: string, pid: number, inodes: ReadonlySet<string>): Promise<PortHolder | undefined> {
  try {
    for (const fd of await readdir(`${folder}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(await readlink(`${folder}/fd/${fd}`).catch(() => ""))?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      const [command, { uid }] = await Promise.all([readFile(`${folder}/comm`, "utf8"), stat(folder)]);
      return { pid, command: command.trim(), uid };
    }
  } catch {
    // gone meanwhile, or another user's
  }
  return undefined;
}

async function fromLsof(port: number): Promise<PortHolder[]> {
  const run = promisify(execFile);
  const args = ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-FpcU"];
  const { stdout } = await run("lsof", args, { timeout: 5_000 }).catch(() => ({ stdout: "" }));
  return parseLsof(stdout);
}

/** `lsof -F` output: one field a line, `p` begins a process. */
export function parseLsof(text: string): PortHolder[] {
  const holders: PortHolder[] = [];
  for (const line of text.split("\n")) {
    const last = holders.at(-1);
    if (line.startsWith("p")) holders.push({ pid: Number(line.slice(1)), command: "", uid: undefined });
    else if (line.startsWith("c") && last) last.command = line.slice(1);
    else if (line.startsWith("u") && last) last.uid = Number(line.slice(1));
  }
  return holders;
}
