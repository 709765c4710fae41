import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type Certificate, makeCertificate } from "./certificate.ts";
import { onFreePorts, startInForeground } from "./foreground.ts";
import { listens } from "./ports.ts";

/** A real dovecot on the loopback: IMAP for mailboxes, LMTP to deliver into them. Each name is a user with a mailbox of their own. */
export interface Dovecot {
  port: number;
  lmtpPort: number;
  /** Port with TLS from the first byte, and the certificate that the server shows there and after STARTTLS; with `tls` only. */
  tls?: { port: number; certificate: Certificate };
  /** Password of every user. */
  password: string;
  /** Folder of a user's mails, in the form `maildir`. */
  maildir(user: string): string;
  /** Ends the process and its workers at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same ports. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

interface DovecotOptions {
  tls?: boolean;
  /** Address that says whether an access token is good (RFC 7662); users log in with one then. */
  introspectionUrl?: string;
  /** Lines for the config. */
  settings?: string;
}

const PASSWORD = "pw-1f7c0d93ab";
/** A user without rights; dovecot does not deliver as root. */
const NOBODY = 65534;

/**
 * Starts dovecot in the foreground with a folder of its own, and waits until it listens.
 * @throws {Error} when it is not installed, with what it printed when it does not start
 */
export async function startDovecot(options: DovecotOptions = {}): Promise<Dovecot> {
  const folder = await mkdtemp(join(tmpdir(), "svc-dovecot-"));
  await chmod(folder, 0o755);
  const mail = join(folder, "mail");
  await mkdir(mail);
  if (process.getuid?.() === 0) await chown(mail, NOBODY, NOBODY);
  const certificate = options.tls ? await makeCertificate(folder) : undefined;
  const file = join(folder, "dovecot.conf");
  if (options.introspectionUrl !== undefined) {
    const lines = ["introspection_mode = get", `introspection_url = ${options.introspectionUrl}`, "username_attribute = username"];
    await writeFile(join(folder, "oauth2.conf"), `${lines.join("\n")}\n`);
  }
  const started = await onFreePorts(certificate ? 3 : 2, async (own) => {
    const [imap = 0, lmtp = 0, imaps = 0] = own;
    const ports = { imap, lmtp, imaps };
    await writeFile(file, configOf(options, { folder, ports, certificate }));
    return { own, ports, end: await start(file, own) };
  });
  const { own, ports } = started;
  let { end } = started;
  return {
    port: ports.imap,
    lmtpPort: ports.lmtp,
    ...(certificate ? { tls: { port: ports.imaps, certificate } } : {}),
    password: PASSWORD,
    maildir: (user) => join(mail, user, "Maildir"),
    kill: () => end(),
    async restart() {
      await end();
      end = await start(file, own);
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @returns what ends the process */
async function start(file: string, ports: readonly number[]): Promise<() => Promise<void>> {
  const server = await startInForeground("dovecot", ["-F", "-c", file], { ports, isDetached: true });
  return async () => {
    const workers = await childrenOf(server.pid);
    await server.end("SIGKILL");
    for (const pid of workers) killed(pid);
    await eventually(async () => !(await Promise.all(ports.map(listens))).includes(true));
  };
}

/** Its workers are processes of their own, and outlive it for a moment. */
async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")));
  return lists.flatMap((list) => list.trim().split(" ").filter(Boolean).map(Number));
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function configOf(
  { introspectionUrl, settings = "" }: DovecotOptions,
  {
    folder,
    ports,
    certificate,
  }: { folder: string; ports: { imap: number; lmtp: number; imaps: number }; certificate: Certificate | undefined },
): string {
  const user = process.getuid?.() === 0 ? "nobody" : userInfo().username;
  const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : { uid: process.getuid?.(), gid: process.getgid?.() };
  return `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = /dev/stderr
protocols = imap lmtp
listen = 127.0.0.1
ssl = ${certificate ? "yes" : "no"}
${certificate ? `ssl_cert = <${certificate.cert}\nssl_key = <${certificate.key}` : ""}
disable_plaintext_auth = no
auth_mechanisms = plain login${introspectionUrl === undefined ? "" : " xoauth2 oauthbearer"}
auth_failure_delay = 0
auth_username_format = %Lu
default_login_user = ${user}
default_internal_user = ${user}
default_internal_group = nogroup
mail_location = maildir:${folder}/mail/%u/Maildir
mail_uid = ${ids.uid}
mail_gid = ${ids.gid}
first_valid_uid = 1
mail_max_userip_connections = 1000
mailbox_list_index = no
${
  introspectionUrl === undefined
    ? ""
    : `passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = ${folder}/oauth2.conf
}`
}
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${ids.uid} gid=${ids.gid} home=${folder}/mail/%u allow_all_users=yes
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${ports.imaps}
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${ports.lmtp}
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
service submission-login {
  chroot =
}
${settings}
`;
}
