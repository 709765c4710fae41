import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "../../sdk/testing/eventually.ts";
import { freePorts, listens } from "./ports.ts";

const READY_MS = 30_000;
/** Times that a server is started on other ports because somebody took one of them meanwhile. */
const MAX_TRIES = 4;

/** A server that runs as a child of the tests. */
export interface Foreground {
  readonly pid: number;
  /** Sends a signal and waits for the end; nothing when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** A port was free when it was chosen, and is not any more. */
class PortTaken extends Error {}

/** Calls `start` with different ports that nobody listens on, and again with others when a server found one of them taken. */
export async function onFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start(await freePorts(count));
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === MAX_TRIES) throw error;
    }
  }
}

/**
 * Starts a program that stays in the foreground, and waits until it listens on all its ports.
 * @param ports of the loopback
 * @throws {Error} when it is not installed, with what it printed when it does not start
 */
export async function startInForeground(
  command: string,
  args: readonly string[],
  { ports, name = command, isDetached = false }: { ports: readonly number[]; name?: string; isDetached?: boolean },
): Promise<Foreground> {
  // It could not be told from the server.
  if ((await Promise.all(ports.map(listens))).includes(true)) throw new PortTaken(`${name}: somebody listens on ${ports.join(" or ")}`);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], detached: isDetached });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (printed = `${printed}${chunk}`.slice(-4_000)));
  let missing: Error | undefined;
  child.once("error", (error) => {
    missing = new Error(`${name} does not run here (${error.message}); its Debian package stands in .ci/packages`);
  });
  /** Why it will not listen any more; undefined while it may. */
  const failure = () => {
    // Some go on without the port; whoever listens there then is somebody else.
    if (/\bin use\b/i.test(printed)) return new PortTaken(`${name}: a port is taken: ${printed}`);
    return missing ?? (hasEnded(child) ? new Error(`${name} ended with ${child.exitCode ?? child.signalCode}: ${printed}`) : undefined);
  };
  const isReady = async () => failure() !== undefined || (await Promise.all(ports.map(listens))).every(Boolean);
  const late = await eventually(isReady, READY_MS).then(failure, () => new Error(`${name} does not listen: ${printed}`));
  if (late) {
    await end(child, "SIGKILL");
    throw late;
  }
  return { pid: child.pid as number, end: (signal) => end(child, signal) };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const closed = once(child, "exit");
  child.kill(signal);
  await closed;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
