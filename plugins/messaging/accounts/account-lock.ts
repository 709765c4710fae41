import { createHash } from "node:crypto";
import { unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** Time for the holder to say who it is. */
const ASK_MS = 1_000;
const MAX_ANSWER_CHARS = 20;

/** The account is run by another gateway of this machine. */
export class AccountHeldError extends Error {
  constructor(pid: number | undefined) {
    super(
      `another gateway on this machine ${pid === undefined ? "" : `(process ${pid}) `}runs this account; stop it there, or remove it from one config`,
    );
    this.name = "AccountHeldError";
  }
}

/** A lock on an account that ends with the process, however that ends. */
export interface AccountLock {
  release(): Promise<void>;
}

/**
 * Takes the lock of an account for this process: a local socket, whose name the system frees when the process is gone. It reaches as far as the machine and the user: state
 * directories do not matter. Who connects to it reads the id of the process.
 * @param identity what the platform knows the account by; only its digest is shown
 * @throws {AccountHeldError} while another process has it; any other error: this system has no such lock
 */
export async function lockAccount(identity: string, platform: NodeJS.Platform = process.platform): Promise<AccountLock> {
  const path = pathOf(identity, platform);
  try {
    return await listen(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
  }
  const holder = await ask(path);
  if (holder !== "nobody" || isFreedBySystem(platform)) throw new AccountHeldError(holder === "nobody" ? undefined : holder.pid);
  // Only a file is left behind by a process that was killed.
  await unlink(path).catch(() => undefined);
  return listen(path).catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? new AccountHeldError(undefined) : error;
  });
}

function isFreedBySystem(platform: NodeJS.Platform): boolean {
  return platform === "linux" || platform === "win32";
}

function pathOf(identity: string, platform: NodeJS.Platform): string {
  const digest = createHash("sha256").update(identity).digest("hex").slice(0, 32);
  const user = userInfo().uid;
  const name = `svc-account-${user}-${digest}`;
  if (platform === "win32") return `\\\\.\\pipe\\${name}`;
  return platform === "linux" ? `\0${name}` : join(tmpdir(), name);
}

function listen(path: string): Promise<AccountLock> {
  return new Promise((resolve, reject) => {
    const server: Server = createServer((socket) => {
      socket.on("error", () => undefined);
      // A client that reads nothing and stays must not keep the lock from being given back.
      socket.end(String(process.pid), () => socket.destroy());
    });
    server.maxConnections = 8;
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      server.on("error", () => undefined);
      // The lock alone keeps no process alive.
      server.unref();
      resolve({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

/** Asks the holder for its process. `nobody`: no process listens there. */
function ask(path: string): Promise<{ pid: number | undefined } | "nobody"> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(path);
    const end = (result: { pid: number | undefined } | "nobody") => {
      clearTimeout(late);
      socket.destroy();
      resolve(result);
    };
    const late = setTimeout(() => end({ pid: undefined }), ASK_MS);
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => (answer = (answer + text).slice(0, MAX_ANSWER_CHARS)));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      end(error.code === "ECONNREFUSED" || error.code === "ENOENT" ? "nobody" : { pid: undefined }),
    );
    socket.on("close", () => end({ pid: /^\d{1,10}$/.test(answer) ? Number(answer) : undefined }));
  });
}
