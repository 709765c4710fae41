import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type Certificate, makeCertificate } from "./certificate.ts";
import { freePorts, listens } from "./ports.ts";

/** A real mosquitto on the loopback. */
export interface Mosquitto {
  port: number;
  /** Port for TLS, and the certificate that the broker shows there; with `tls` only. */
  tls?: { port: number; certificate: Certificate };
  /** Ends the process at once, as a crash does: its sessions are lost. */
  kill(): Promise<void>;
  /** Ends it in order, with its sessions on disk. */
  shutDown(): Promise<void>;
  /** Starts it again on the same ports. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

interface MosquittoOptions {
  /** Users and their passwords; without them everybody may come. */
  users?: Readonly<Record<string, string>>;
  /** Lines of an ACL file. */
  acl?: string;
  tls?: boolean;
  /** Further lines of the config. */
  more?: string;
}

/**
 * Starts mosquitto in the foreground with a folder of its own, and waits until it listens.
 * @throws {Error} when it is not installed, with what it printed when it does not start
 */
export async function startMosquitto(options: MosquittoOptions = {}): Promise<Mosquitto> {
  const folder = await mkdtemp(join(tmpdir(), "svc-mosquitto-"));
  const [port = 0, tlsPort = 0] = await freePorts(2);
  const tls = options.tls ? { port: tlsPort, certificate: await makeCertificate(folder) } : undefined;
  const file = join(folder, "mosquitto.conf");
  await writeFile(file, configOf(options, { folder, port, tls }));
  if (options.acl) await writeFile(join(folder, "acl"), options.acl);
  await writeUsers(folder, options.users ?? {});
  // Started by root, it gives root's rights up, and writes its sessions afterwards.
  await chmod(folder, 0o777);
  for (const path of tls ? [tls.certificate.cert, tls.certificate.key] : []) await chmod(path, 0o644);
  let end = await start(file, port);
  return {
    port,
    ...(tls ? { tls } : {}),
    kill: () => end("SIGKILL"),
    shutDown: () => end("SIGTERM"),
    async restart() {
      await end("SIGKILL");
      end = await start(file, port);
    },
    async stop() {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function writeUsers(folder: string, users: Readonly<Record<string, string>>): Promise<void> {
  const names = Object.entries(users);
  if (names.length === 0) return;
  const file = join(folder, "passwords");
  await writeFile(file, names.map(([name, password]) => `${name}:${password}\n`).join(""));
  await promisify(execFile)("mosquitto_passwd", ["-U", file]);
  await chmod(file, 0o644);
}

/** @returns what ends the process */
async function start(file: string, port: number): Promise<(signal: "SIGKILL" | "SIGTERM") => Promise<void>> {
  const child = spawn("mosquitto", ["-c", file], { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (printed = `${printed}${chunk}`.slice(-4_000)));
  let missing: Error | undefined;
  child.once("error", (error) => {
    missing = new Error(`mosquitto does not run here (${error.message}); its Debian package stands in .ci/packages`);
  });
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    if (missing || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill(signal);
    await closed;
  };
  try {
    await eventually(() => {
      if (missing) throw missing;
      if (child.exitCode !== null) throw new Error(`mosquitto ended with ${child.exitCode}: ${printed}`);
      return listens(port);
    }, 30_000);
  } catch (error) {
    await end("SIGKILL");
    throw error;
  }
  return end;
}

function configOf(
  { users, acl, more = "" }: MosquittoOptions,
  { folder, port, tls }: { folder: string; port: number; tls: Mosquitto["tls"] },
): string {
  return `listener ${port} 127.0.0.1
${tls ? `listener ${tls.port} 127.0.0.1\ncertfile ${tls.certificate.cert}\nkeyfile ${tls.certificate.key}` : ""}
${users ? `allow_anonymous false\npassword_file ${folder}/passwords` : "allow_anonymous true"}
${acl ? `acl_file ${folder}/acl` : ""}
persistence true
persistence_location ${folder}/
set_tcp_nodelay true
log_dest stderr
log_type error
log_type warning
${more}
`;
}
