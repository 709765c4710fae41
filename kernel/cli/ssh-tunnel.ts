import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { commonErrors, type SvcError } from "../../sdk/errors.ts";
import { printableLine } from "../../sdk/text/printable.ts";
import type { CliTarget } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import { parseSshTarget } from "../config/sections/ssh-target.ts";
import { findPortHolders } from "../process/port-holders.ts";

/** Time for dialling, authentication and the forward. */
const OPEN_MS = 15_000;
const POLL_MS = 25;
/** A child that ignores SIGTERM is killed. */
const END_MS = 1_000;
const MAX_STDERR_CHARS = 2_000;

/** Environment and limits of a tunnel. */
export interface TunnelOptions {
  env: Env;
  signal: AbortSignal;
  /** Default 15 s. */
  timeoutMs?: number;
}

/** A port of this machine that leads to a gateway elsewhere. */
export interface Tunnel {
  /** Address to dial. */
  url: string;
  /** Ends `ssh`; may be called several times. */
  close(): Promise<void>;
}

/**
 * Runs the system's `ssh` with one local port forward, and resolves once the forward accepts connections. It asks nobody anything: host key and user key are
 * those that `ssh` accepts without a terminal.
 * @throws {SvcError} `gateway-unreachable` with what `ssh` said; `usage` for a target that is no host
 */
export async function openTunnel(target: CliTarget, { env, signal, timeoutMs = OPEN_MS }: TunnelOptions): Promise<Tunnel> {
  const port = await unusedPort();
  const args = tunnelArgs(target, port);
  const child = spawn("ssh", args, { env: sshEnv(env), stdio: ["ignore", "ignore", "pipe"] });
  const end = endOnce(child);
  try {
    await opened(child, { target, port, limit: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
  } catch (error) {
    await end();
    throw error;
  }
  const url = new URL(target.url);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return { url: url.href.replace(/\/$/, ""), close: end };
}

/**
 * Arguments of `ssh`. A connection that others share would keep the forward after this command, so none is shared.
 * @throws {SvcError} `usage`
 */
export function tunnelArgs({ ssh, host, port }: Pick<CliTarget, "ssh" | "host" | "port">, localPort: number): string[] {
  const to = parseSshTarget(ssh?.target ?? "");
  if (!ssh || !to) {
    throw commonErrors.usage({ message: `gateway.remote.sshTarget: expected "user@host" or "user@host:port", got "${ssh?.target ?? ""}"` });
  }
  const options = [
    "BatchMode=yes",
    "ExitOnForwardFailure=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "ControlMaster=no",
    "ControlPath=none",
  ];
  return [
    "-N",
    "-T",
    ...options.flatMap((option) => ["-o", option]),
    ...(ssh.identity === undefined ? [] : ["-o", "IdentitiesOnly=yes", "-i", ssh.identity]),
    ...(to.port === undefined ? [] : ["-p", String(to.port)]),
    "-L",
    `127.0.0.1:${localPort}:${host}:${port}`,
    "--",
    to.destination,
  ];
}

/** `ssh` may be told to pass variables on (`SendEnv`); those of svc hold secrets. */
function sshEnv(env: Env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SVC_"))) as NodeJS.ProcessEnv;
}

interface Opening {
  target: CliTarget;
  port: number;
  limit: AbortSignal;
}

async function opened(child: ChildProcess, { target, port, limit }: Opening): Promise<void> {
  let said = "";
  let problem: string | undefined;
  child.stderr?.on("error", () => undefined); // its end says all there is to say
  child.stderr?.on("data", (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-MAX_STDERR_CHARS);
  });
  child.on("error", (error: NodeJS.ErrnoException) => {
    problem ??=
      error.code === "ENOENT"
        ? "there is no program ssh on the PATH; install an OpenSSH client"
        : `ssh could not be started: ${error.code}`;
  });
  child.once("close", (code, by) => {
    problem ??= `ssh ended with ${code === null ? by : `code ${code}`}${lastLine(said)}`;
  });
  while (!limit.aborted) {
    if (problem !== undefined) throw unreachable(target, problem, "refused");
    if ((await accepts(port)) && (await belongsTo(child, port))) return;
    await sleep(POLL_MS);
  }
  throw unreachable(target, `ssh opened no port forward in time${lastLine(said)}`, "timeout");
}

function lastLine(said: string): string {
  const line = said.trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${printableLine(line.trim())}`;
}

function unreachable({ url, ssh }: CliTarget, reason: string, cause: string): SvcError {
  const to = parseSshTarget(ssh?.target ?? "");
  const advice = `try it by hand: ssh ${to?.port === undefined ? "" : `-p ${to.port} `}${to?.destination ?? ""}`;
  return commonErrors.gatewayUnreachable({ url: `${url} over ssh`, reason, cause, advice });
}

/** Is it `ssh` that listens there, and not a program that was faster and wants the token? Where the system does not say, its word is taken. */
async function belongsTo(child: ChildProcess, port: number): Promise<boolean> {
  const holders = await findPortHolders(port);
  return holders.length === 0 || holders.every(({ pid }) => pid === child.pid);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  server.listen({ host: "127.0.0.1", port: 0, exclusive: true });
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Ends the child with this command, however the command ends; after a kill -9 `ssh` stays until its connection ends. */
function endOnce(child: ChildProcess): () => Promise<void> {
  const kill = () => void child.kill("SIGTERM");
  process.once("exit", kill);
  let ending: Promise<void> | undefined;
  const end = async () => {
    process.off("exit", kill);
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    kill();
    const hard = setTimeout(() => child.kill("SIGKILL"), END_MS);
    await closed;
    clearTimeout(hard);
  };
  return () => (ending ??= end());
}
