import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Certificate, makeCertificate } from "./certificate.ts";
import { onFreePorts, startInForeground } from "./foreground.ts";

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
  const certificate = options.tls ? await makeCertificate(folder) : undefined;
  const file = join(folder, "mosquitto.conf");
  if (options.acl) await writeFile(join(folder, "acl"), options.acl);
  await writeUsers(folder, options.users ?? {});
  // Started by root, it gives root's rights up, and writes its sessions afterwards.
  await chmod(folder, 0o777);
  for (const path of certificate ? [certificate.cert, certificate.key] : []) await chmod(path, 0o644);
  const started = await onFreePorts(2, async ([port = 0, tlsPort = 0]) => {
    const tls = certificate && { port: tlsPort, certificate };
    await writeFile(file, configOf(options, { folder, port, tls }));
    return { port, tls, server: await start(file, port) };
  });
  const { port, tls } = started;
  let { server } = started;
  return {
    port,
    ...(tls ? { tls } : {}),
    kill: () => server.end("SIGKILL"),
    shutDown: () => server.end("SIGTERM"),
    async restart() {
      await server.end("SIGKILL");
      server = await start(file, port);
    },
    async stop() {
      await server.end("SIGKILL");
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

const start = (file: string, port: number) => startInForeground("mosquitto", ["-c", file], { ports: [port] });

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
