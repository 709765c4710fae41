import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Certificate, makeCertificate } from "./certificate.ts";
import { onFreePorts, startInForeground } from "./foreground.ts";

const run = promisify(execFile);

/** A real prosody on the loopback: the domain `localhost`, and rooms at `rooms.localhost`. */
export interface Prosody {
  /** Port for STARTTLS, or for links without encryption. */
  port: number;
  /** Port for TLS from the first byte, and the certificate that the server shows; with `tls` only. */
  tls?: { port: number; certificate: Certificate };
  /** Makes accounts; all have the same password. */
  register(password: string, ...names: string[]): Promise<void>;
  /** Stops it as a system does, or at once, as a crash does. */
  stop(how?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Starts it again on the same ports, with what it has kept. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

interface ProsodyOptions {
  tls?: boolean;
  /** Lines for the domain, as of `Lua`. */
  settings?: string;
  /** Modules beside those that the tests need. */
  without?: readonly string[];
}

/** Root may run it in tests; others need not ask. */
const asRoot = process.getuid?.() === 0 ? ["--root"] : [];

/**
 * Starts prosody in the foreground with a folder of its own, and waits until it listens. It asks no other server, and looks nothing up.
 * @throws {Error} when it is not installed, with what it printed when it does not start
 */
export async function startProsody(options: ProsodyOptions = {}): Promise<Prosody> {
  const folder = await mkdtemp(join(tmpdir(), "svc-prosody-"));
  const certificate = options.tls ? await makeCertificate(folder) : undefined;
  const file = join(folder, "prosody.cfg.lua");
  await chmod(folder, 0o755);
  const started = await onFreePorts(2, async ([port = 0, tlsPort = 0]) => {
    const tls = certificate && { port: tlsPort, certificate };
    await writeFile(file, configOf(options, folder, port, tls));
    return { port, tls, server: await start(file, port) };
  });
  const { port, tls } = started;
  let { server } = started;
  return {
    port,
    ...(tls ? { tls } : {}),
    async register(password, ...names) {
      for (const name of names) await run("prosodyctl", [...asRoot, "--config", file, "register", name, "localhost", password]);
    },
    stop: (how = "SIGKILL") => server.end(how),
    async restart() {
      await server.end("SIGKILL");
      server = await start(file, port);
    },
    async close() {
      await server.end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const start = (file: string, port: number) => startInForeground("prosody", [...asRoot, "-F", "--config", file], { ports: [port] });

const MODULES = ["disco", "offline", "ping", "roster", "saslauth", "smacks"];

function configOf({ settings = "", without = [] }: ProsodyOptions, folder: string, port: number, tls: Prosody["tls"]): string {
  const modules = [...MODULES.filter((name) => !without.includes(name)), ...(tls ? ["tls"] : [])];
  const disabled = ["s2s", ...(tls ? [] : ["tls"]), ...without];
  const list = (names: readonly string[]) => `{ ${names.map((name) => JSON.stringify(name)).join(", ")} }`;
  return `pidfile = "${folder}/prosody.pid"
${asRoot.length > 0 ? "run_as_root = true" : ""}
certificates = "${folder}"
data_path = "${folder}/data"
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
${tls ? `c2s_direct_tls_ports = { ${tls.port} }\nssl = { certificate = "${tls.certificate.cert}"; key = "${tls.certificate.key}" }` : ""}
c2s_require_encryption = ${tls ? "true" : "false"}
allow_unencrypted_plain_auth = true
authentication = "internal_hashed"
default_iteration_count = 4096
modules_enabled = ${list(modules)}
modules_disabled = ${list(disabled)}
log = { warn = "*console" }
VirtualHost "localhost"
${settings}
Component "rooms.localhost" "muc"
muc_room_default_public_jids = true
`;
}
