import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** One run of the fake. */
export interface SshRun {
  argv: string[];
  destination: string;
  options: string[];
  forward: string;
  identity: string | null;
  /** Variables of svc that reached it. */
  leaked: string[];
  pid: number;
}

/** An `ssh` that forwards a port on this machine, for tests of who runs it. */
export interface FakeSsh {
  /** Variables with which `ssh` is this one. */
  env: Record<string, string>;
  runs(): Promise<SshRun[]>;
}

/**
 * Puts a program `ssh` into a folder. It takes what OpenSSH takes for a port forward and ends with 255 and OpenSSH's words for everything else; a host named
 * `refusing` refuses the key, one named `silent` never answers.
 */
export async function fakeSsh(folder: string): Promise<FakeSsh> {
  const bin = join(folder, "bin");
  const log = join(folder, "ssh.log");
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, "ssh"), `#!${process.execPath}\n${program}`);
  await chmod(join(bin, "ssh"), 0o700);
  return {
    env: { PATH: `${bin}:${process.env.PATH ?? ""}`, FAKE_SSH_LOG: log },
    async runs() {
      const text = await readFile(log, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as SshRun);
    },
  };
}

const program = String.raw`
const { appendFileSync } = require("node:fs");
const net = require("node:net");
const argv = process.argv.slice(2);
const seen = { argv, destination: "", options: [], forward: "", identity: null, pid: process.pid };
const fail = (text) => { process.stderr.write(text + "\n"); process.exit(255); };
for (let i = 0, isOpen = true; i < argv.length; i++) {
  const arg = argv[i];
  if (isOpen && arg === "--") isOpen = false;
  else if (!isOpen || !arg.startsWith("-")) { if (seen.destination) fail("a command was given"); seen.destination = arg; }
  else if (arg === "-N" || arg === "-T") continue;
  else if (arg === "-o") seen.options.push(argv[++i]);
  else if (arg === "-i") seen.identity = argv[++i];
  else if (arg === "-p") seen.port = argv[++i];
  else if (arg === "-L") seen.forward = argv[++i];
  else fail("unknown option -- " + arg.slice(1));
}
seen.leaked = Object.keys(process.env).filter((name) => name.startsWith("SVC_"));
appendFileSync(process.env.FAKE_SSH_LOG, JSON.stringify(seen) + "\n");
for (const needed of ["BatchMode=yes", "ExitOnForwardFailure=yes"]) if (!seen.options.includes(needed)) fail("asks a terminal: " + needed);
const host = seen.destination.split("@").at(-1);
if (host === "refusing") fail(seen.destination + ": Permission denied (publickey).");
const [, bind, local, to, port] = /^(127\.0\.0\.1):(\d+):(\[[^\]]+\]|[^:]+):(\d+)$/.exec(seen.forward) ?? fail("Bad local forwarding specification");
if (host === "silent") setInterval(() => undefined, 60_000);
else {
  const server = net.createServer((socket) => {
    const far = net.connect({ host: to.replace(/[[\]]/g, ""), port: Number(port) });
    for (const end of [socket, far]) end.on("error", () => { socket.destroy(); far.destroy(); });
    socket.pipe(far).pipe(socket);
  });
  server.on("error", () => fail("bind [127.0.0.1]:" + local + ": Address already in use"));
  server.listen(Number(local), bind);
}
`;
