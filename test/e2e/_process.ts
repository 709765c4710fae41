import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "../../sdk/testing/eventually.ts";

const svc = fileURLToPath(new URL("../../bin/svc.mjs", import.meta.url));

/** A home of its own, so that nothing of this machine is read or written. */
export interface Home {
  stateDir: string;
  env: Record<string, string>;
  /** `bin/svc.mjs` of another installation than this checkout. */
  program?: string;
  /** Folder its commands run in; default: that of the test run. */
  cwd?: string;
  /** Time that a gateway has to become ready; default 30 s. */
  readyMs?: number;
  remove(): Promise<void>;
}

export async function createHome(): Promise<Home> {
  const home = await mkdtemp(join(tmpdir(), "svc-e2e-"));
  const stateDir = join(home, ".svc");
  const env = { PATH: process.env.PATH ?? "", HOME: home, SVC_GATEWAY_PORT: "0", NO_COLOR: "1" };
  // Again for a while: a process that was just killed may have been writing here.
  return { stateDir, env, remove: () => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }) };
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one `svc` command to its end. */
export async function svcCommand(home: Home, args: string[], env: Record<string, string> = {}): Promise<Finished> {
  const child = spawn(process.execPath, [home.program ?? svc, ...args], {
    env: { ...home.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(home.cwd ? { cwd: home.cwd } : {}),
  });
  const out = collect(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...out };
}

export interface Running {
  child: ChildProcess;
  port: number;
  url: string;
  out: { stdout: string; stderr: string };
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the built gateway as its own process and waits until it is ready. One that does not become ready is killed. */
export async function startGateway(home: Home, args: string[] = [], env: Record<string, string> = {}): Promise<Running> {
  const child = spawn(process.execPath, [home.program ?? svc, "gateway", ...args], {
    env: { ...home.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out = collect(child);
  const closed = once(child, "close");
  const port = await portIn(home, { pid: child.pid, hasEnded: () => hasEnded(child) }).catch(async (error: unknown) => {
    await ended(child, "SIGKILL");
    throw new Error(`the gateway, process ${child.pid}, is not ready: ${error}\n${out.stderr}${out.stdout}`);
  });
  if (port === undefined) {
    await closed;
    throw new Error(`the gateway ended with ${child.exitCode ?? child.signalCode}: ${out.stderr}${out.stdout}`);
  }
  return {
    child,
    port,
    url: `http://127.0.0.1:${port}`,
    out,
    kill: (signal) => ended(child, signal),
  };
}

/**
 * Port of the gateway of a home once it is ready, or nothing when it ends before.
 * @throws {Error} when it is not ready in time
 */
export async function portIn(
  { stateDir, readyMs = 120_000 }: Home,
  { pid, hasEnded }: { pid: number | undefined; hasEnded(): boolean },
): Promise<number | undefined> {
  const port = await eventually(async () => {
    if (hasEnded()) return "none";
    const info = JSON.parse(await readFile(join(stateDir, "gateway", "runtime.json"), "utf8")) as { pid: number; port: number };
    return info.pid === pid && info.port;
  }, readyMs);
  return port === "none" ? undefined : port;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Sends a signal and waits for the end. */
async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (hasEnded(child)) return child.exitCode;
  const closed = once(child, "close");
  child.kill(signal);
  const [code] = (await closed) as [number | null];
  return code;
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const out = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => {
    out.stdout += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    out.stderr += chunk.toString();
  });
  return out;
}
