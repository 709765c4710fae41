import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type Certificate, makeCertificate } from "./certificate.ts";

/** A real ngircd on the loopback. */
export interface Ngircd {
  port: number;
  /** Port for TLS, and the certificate that the server shows there; with `tls` only. */
  tls?: { port: number; certificate: Certificate };
  /** Ends the process at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same ports. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

interface NgircdOptions {
  /** Password that everybody needs. */
  password?: string;
  tls?: boolean;
  /** Lines for `[Limits]`. */
  limits?: string;
}

/**
 * Starts ngircd in the foreground with a folder of its own, and waits until it listens. It looks nothing up, and does not slow its users down.
 * @throws {Error} when it is not installed, with what it printed when it does not start
 */
export async function startNgircd(options: NgircdOptions = {}): Promise<Ngircd> {
  const folder = await mkdtemp(join(tmpdir(), "svc-ngircd-"));
  const port = await freePort();
  const tls = options.tls ? { port: await freePort(), certificate: await makeCertificate(folder) } : undefined;
  const file = join(folder, "ngircd.conf");
  await writeFile(file, configOf(options, port, tls));
  // It gives root's rights up before it reads all of them.
  await chmod(folder, 0o755);
  if (tls) await chmod(tls.certificate.key, 0o644);
  let end = await start(file, port);
  return {
    port,
    ...(tls ? { tls } : {}),
    kill: () => end(),
    async restart() {
      await end();
      end = await start(file, port);
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @returns what ends the process */
async function start(file: string, port: number): Promise<() => Promise<void>> {
  const child = spawn("ngircd", ["-n", "-f", file], { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (printed = `${printed}${chunk}`.slice(-4_000)));
  let missing: Error | undefined;
  child.once("error", (error) => {
    missing = new Error(`ngircd does not run here (${error.message}); its Debian package stands in .ci/packages`);
  });
  const end = async () => {
    if (missing || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  };
  try {
    await eventually(() => {
      if (missing) throw missing;
      if (child.exitCode !== null) throw new Error(`ngircd ended with ${child.exitCode}: ${printed}`);
      return listens(port);
    });
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

function configOf({ password, limits = "" }: NgircdOptions, port: number, tls: Ngircd["tls"]): string {
  return `[Global]
Name = irc.example.net
Info = A server for tests
Network = ExampleNet
MotdPhrase = Hello.
Listen = 127.0.0.1
Ports = ${port}
${password === undefined ? "" : `Password = ${password}`}
[Limits]
MaxConnectionsIP = 0
MaxNickLength = 20
MaxPenaltyTime = 0
${limits}
[Operator]
Name = operator
Password = operator-pw
[Options]
DNS = no
Ident = no
PAM = no
ConnectIPv6 = no
${tls ? `[SSL]\nCertFile = ${tls.certificate.cert}\nKeyFile = ${tls.certificate.key}\nPorts = ${tls.port}` : ""}
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).finally(() => socket.destroy());
}
