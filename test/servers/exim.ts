import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../../sdk/testing/eventually.ts";
import { freePort, listens } from "./ports.ts";

const run = promisify(execFile);

/** A real exim4 on the loopback: takes mail by SMTP and hands it on by LMTP, with what it thinks of the sender on top. */
export interface Exim {
  port: number;
  /** Name in its `Authentication-Results`. */
  authservId: string;
  stop(): Promise<void>;
}

/** User of Debian's package: nobody else may run the daemon, so that only root can start it, and root's rights are not needed. */
const USER = "Debian-exim";
const AUTHSERV_ID = "mx.example.org";

/**
 * Starts exim4 in the foreground with a folder of its own, and waits until it listens.
 * @param lmtpPort server that has the mailboxes
 * @throws {Error} when it is not installed, with what it printed when it does not start
 */
export async function startExim(lmtpPort: number): Promise<Exim> {
  const folder = await mkdtemp(join(tmpdir(), "svc-exim-"));
  await chmod(folder, 0o755);
  const spool = join(folder, "spool");
  await mkdir(spool);
  await chown(spool, await idOf("-u"), await idOf("-g"));
  const port = await freePort();
  const file = join(folder, "exim.conf");
  await writeFile(file, configOf(spool, lmtpPort), { mode: 0o644 });
  const exim = ["exim4", "-bdf", "-odf", "-q1s", "-C", file, "-oX", String(port)];
  const child = spawn("setpriv", [`--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", ...exim], { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (printed = `${printed}${chunk}`.slice(-4_000)));
  let missing: Error | undefined;
  child.once("error", (error) => {
    missing = new Error(`exim4 does not run here (${error.message}); its Debian package stands in .ci/packages`);
  });
  const stop = async () => {
    if (!missing && child.exitCode === null && child.signalCode === null) {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(() => {
      if (missing) throw missing;
      if (child.exitCode !== null) throw new Error(`exim4 ended with ${child.exitCode}: ${printed}`);
      return listens(port);
    }, 30_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, authservId: AUTHSERV_ID, stop };
}

async function idOf(kind: "-u" | "-g"): Promise<number> {
  return Number((await run("id", [kind, USER])).stdout);
}

function configOf(spool: string, lmtpPort: number): string {
  return `primary_hostname = ${AUTHSERV_ID}
spool_directory = ${spool}
log_file_path = ${spool}/%slog
local_interfaces = 127.0.0.1
hosts_treat_as_local =
host_lookup =
rfc1413_query_timeout = 0s
keep_environment =
smtp_accept_max_per_connection = 0
acl_smtp_rcpt = accept_rcpt
domainlist ours = example.org : example.net
begin acl
accept_rcpt:
  accept
    hosts = 127.0.0.1
    domains = +ours
    add_header = :at_start:Authentication-Results: ${AUTHSERV_ID}; spf=pass smtp.mailfrom=$sender_address
  deny
    message = no such domain here
begin routers
mailboxes:
  driver = accept
  domains = +ours
  transport = lmtp
begin transports
lmtp:
  driver = smtp
  protocol = lmtp
  hosts = 127.0.0.1
  port = ${lmtpPort}
  hosts_override
  allow_localhost
begin retry
* * F,1h,1s
`;
}
