import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Certificate, makeCertificate } from "./certificate.ts";
import { onFreePorts, startInForeground } from "./foreground.ts";

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
  const certificate = options.tls ? await makeCertificate(folder) : undefined;
  const file = join(folder, "ngircd.conf");
  // It gives root's rights up before it reads all of them.
  await chmod(folder, 0o755);
  if (certificate) await chmod(certificate.key, 0o644);
  const started = await onFreePorts(certificate ? 2 : 1, async ([port = 0, tlsPort = 0]) => {
    const tls = certificate && { port: tlsPort, certificate };
    await writeFile(file, configOf(options, port, tls));
    return { port, tls, server: await start(file, port) };
  });
  const { port, tls } = started;
  let { server } = started;
  return {
    port,
    ...(tls ? { tls } : {}),
    kill: () => server.end("SIGKILL"),
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

const start = (file: string, port: number) => startInForeground("ngircd", ["-n", "-f", file], { ports: [port] });

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
