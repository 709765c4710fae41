import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A child whose output is kept for the error message and who is ended by `stop`. */
export function startProcess(args, { env = {}, cwd } = {}) {
  const spawnedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env.PATH, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output = (output + chunk).slice(-20_000)));
  const exited = once(child, "exit");
  return {
    pid: child.pid,
    spawnedAt,
    exited,
    output: () => output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exited;
      clearTimeout(late);
    },
  };
}

/** Runs to the end. @returns milliseconds and stdout; a wrong exit code is an error */
export async function runToEnd(args, options = {}) {
  const child = startProcess(args, options);
  const [code] = await child.exited;
  const ms = performance.now() - child.spawnedAt;
  if (code !== (options.expectCode ?? 0)) throw new Error(`node ${args.join(" ")} ended with ${code}:\n${child.output()}`);
  return { ms, output: child.output() };
}

/** CPU time in ms of a process and of those it started, threads that live included. Linux only: `undefined` elsewhere. */
export function cpuMs(pid) {
  const pids = [pid, ...descendants(pid)];
  return pids.reduce((sum, one) => sum + threadsNs(one), 0) / 1e6;
}

function threadsNs(pid) {
  let sum = 0;
  for (const task of list(`/proc/${pid}/task`)) {
    const text = read(`/proc/${pid}/task/${task}/schedstat`);
    if (text) sum += Number(text.split(" ")[0]);
  }
  return sum;
}

function descendants(pid) {
  const direct = list(`/proc/${pid}/task`).flatMap((task) => (read(`/proc/${pid}/task/${task}/children`) ?? "").split(" ").filter(Boolean));
  return direct.flatMap((child) => [Number(child), ...descendants(Number(child))]);
}

/** Memory in MB: `rss` as `top` shows it, `pss` with shared pages counted once. */
export function memoryMb(pid) {
  const text = read(`/proc/${pid}/smaps_rollup`) ?? "";
  const kb = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? Number.NaN);
  return { rss: kb("Rss") / 1024, pss: kb("Pss") / 1024 };
}

function list(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
