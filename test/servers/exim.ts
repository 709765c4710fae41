import { execFile } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onFreePorts, startInForeground } from "./foreground.ts";

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
  const file = join(folder, "exim.conf");
  await writeFile(file, configOf(spool, lmtpPort), { mode: 0o644 });
  const { port, server } = await onFreePorts(1, async ([port = 0]) => {
    const exim = ["exim4", "-bdf", "-odf", "-q1s", "-C", file, "-oX", String(port)];
    const args = [`--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", ...exim];
    return { port, server: await startInForeground("setpriv", args, { ports: [port], name: "exim4" }) };
  });
  return {
    port,
    authservId: AUTHSERV_ID,
    async stop() {
      await server.end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
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
