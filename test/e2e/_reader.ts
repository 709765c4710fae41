import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { freePorts } from "../servers/ports.ts";
import { registryEnv } from "../servers/registry.ts";
import { token } from "./_cli.ts";
import { type GuideBlock, shellLines } from "./_guide.ts";
import type { SharedTests } from "./_plugin-tests.ts";
import type { Home } from "./_process.ts";
import type { TypedCommands } from "./_typed-commands.ts";

/** Ports of the gateway, of the page's own server and of servers of chats and mail, and the folder of mail, as the pages print them. */
const PRINTED = {
  gateway: "127.0.0.1:18789",
  server: "8080",
  irc: "6667",
  xmpp: "5222",
  imap: "1143",
  smtp: "1025",
  mail: "/tmp/svc-guide-mail",
  mqtt: "1883",
};
/** Lines that go on until somebody ends them. */
const serving = /^(svc plugins dev|node serve\.mjs|ngircd|ii|prosody|go-sendxmpp|dovecot|aiosmtpd|mosquitto)(?:\s|$)/;
/** Line that each of these programs prints once it serves. */
const SERVES: Readonly<Record<string, string>> = {
  svc: "watching",
  ngircd: "Now listening",
  ii: "End of MOTD command",
  dovecot: "starting up",
  aiosmtpd: "Server is listening",
  mosquitto: "running",
  prosody: "Activated service 'c2s'",
  "go-sendxmpp": "",
};
/** The line that installs what the package.json of a new folder asks for, and runs the tests. */
export const TESTING = "npm install && npm test";
const LINE_MS = 300_000;

/** Somebody in an empty folder who types what a page prints, into a shell, line by line. */
export interface Reader {
  /** Types the lines of a `sh` block, writes a block that names its file, and finds any other one in what was printed last. */
  follow(block: GuideBlock): Promise<void>;
  /** Looks at what `svc plugins dev` said last. @throws when it was a failure */
  leave(): void;
}

export interface ReaderOptions {
  /** Home of the gateway and of the commands; `program` is the `svc` of its shell. */
  home: Home;
  /** Programs `svc` of the test file. */
  commands: TypedCommands;
  /** Where the gateway listens now. */
  port(): Promise<number>;
  /** Called instead of reading the output, for what is seen at a server that runs. */
  seePage?(expected: string, serverPort: number): Promise<void>;
  /** Folder of programs that go before those of this machine. */
  tools?: string;
  /** Further texts of the page, each with what stands for it here. */
  texts?: Readonly<Record<string, string>>;
  /** Lines that are left out, each with the reason. */
  leftOut?: Readonly<Record<string, string>>;
  /** Readers who share the installation of the first, and its runner; others type `npm install && npm test` themselves. */
  tests?: SharedTests;
}

/** Somebody for one test: what runs is ended, and the folder removed, when the test is over, however it ends. */
export async function createReader({
  home,
  commands,
  port: gatewayPort,
  seePage,
  leftOut = {},
  texts = {},
  tools,
  tests,
}: ReaderOptions): Promise<Reader> {
  const folder = await mkdtemp(join(tmpdir(), "svc-reader-"));
  const [work, bin, state] = [join(folder, "work"), join(folder, "bin"), join(folder, "state")];
  for (const path of [work, bin, state]) await mkdir(path);
  // Where supervisors start a gateway, the program that is running is what their units name.
  const endCommands = await commands.install(bin, home.program ?? "", { onlyPrograms: tools !== undefined });
  await writeFile(join(state, "env"), "");
  await writeFile(join(state, "cwd"), work);
  const [serverPort = 0, ircPort, xmppPort, imapPort, smtpPort, mqttPort] = await freePorts(6);
  let said = "";
  const running: Array<{ line: string; child: ChildProcess; text(): string }> = [];

  const env = async (): Promise<Record<string, string>> => ({
    ...registryEnv(),
    ...home.env,
    PATH: `${bin}${delimiter}${tools === undefined ? "" : `${tools}${delimiter}`}${dirname(process.execPath)}${delimiter}${home.env.PATH}`,
    GATEWAY_URL: `ws://127.0.0.1:${await gatewayPort()}`,
    GATEWAY_TOKEN: token,
  });
  const local = async (page: string) =>
    Object.entries(texts)
      .reduce((text, [printed, here]) => text.replaceAll(printed, here), page)
      .replaceAll(PRINTED.server, String(serverPort))
      .replaceAll(PRINTED.irc, String(ircPort))
      .replaceAll(PRINTED.imap, String(imapPort))
      .replaceAll(PRINTED.smtp, String(smtpPort))
      .replaceAll(PRINTED.mail, `${folder}-mail`)
      .replaceAll(PRINTED.mqtt, String(mqttPort))
      .replaceAll(PRINTED.xmpp, String(xmppPort))
      .replaceAll(PRINTED.gateway, `127.0.0.1:${await gatewayPort()}`);
  const cwd = () => readFile(join(state, "cwd"), "utf8");
  const start = async (script: string): Promise<{ child: ChildProcess; out: { stdout: string; stderr: string } }> => {
    const child = spawn("sh", ["-c", script], { cwd: await cwd(), env: await env(), stdio: ["ignore", "pipe", "pipe"], timeout: LINE_MS });
    const out = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) child[name]?.on("data", (chunk: Buffer) => (out[name] += chunk.toString()));
    return { child, out };
  };

  /** Types a line; its exports and its folder hold for the lines after it, as in one shell. */
  const type = async (line: string): Promise<void> => {
    const restore = `set -e; . "${state}/env"; cd "$(cat "${state}/cwd")"`;
    const keep = `export -p | grep -v -E '^export (PATH|PWD|OLDPWD|GATEWAY_URL)=' > "${state}/env"; printf %s "$PWD" > "${state}/cwd"`;
    const sharing = line === TESTING ? tests : undefined;
    if (sharing && !(await sharing.begin(await cwd()))) return;
    const { child, out } = await start(`${restore}\n${await local(line)}\n${keep}`);
    const [code] = (await once(child, "close")) as [number | null];
    // A finding of doctor is no failure of the page.
    const isFine = code === 0 || (code === 1 && line.startsWith("svc doctor"));
    expect(`${line}: ${isFine ? "" : `${code} ${out.stdout}${out.stderr}`}`).toBe(`${line}: `);
    await sharing?.installed(await cwd());
    said = out.stdout;
  };
  const serve = async (line: string): Promise<void> => {
    const { child, out } = await start(`. "${state}/env"; exec ${await local(line)}`);
    const entry = { line, child, text: () => out.stdout + out.stderr };
    running.push(entry);
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`${line} ended with ${child.exitCode}: ${entry.text()}`);
      const sign = SERVES[line.split(" ")[0] ?? ""];
      return sign === undefined ? (await fetch(`http://127.0.0.1:${serverPort}/`)).ok : entry.text().includes(sign);
    }, 30_000);
  };
  const dev = () => running.find(({ line }) => line.startsWith("svc plugins dev"));
  const server = () => running.find(({ line }) => line.startsWith("node"));
  const end = async (entry: (typeof running)[number]): Promise<void> => {
    running.splice(running.indexOf(entry), 1);
    if (entry.child.exitCode !== null || entry.child.signalCode !== null) return;
    const closed = once(entry.child, "close");
    entry.child.kill("SIGINT");
    await closed;
  };
  const write = async ({ file = "", text }: GuideBlock): Promise<void> => {
    const before = dev()?.text().length ?? 0;
    const path = file.startsWith("~/") ? join(home.env.HOME as string, file.slice(2)) : join(await cwd(), file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, await local(text));
    if (dev()) await eventually(() => (dev()?.text().length ?? 0) > before);
  };

  onTestFinished(async () => {
    for (const entry of [...running]) await end(entry);
    await endCommands();
    for (const path of [folder, `${folder}-mail`]) await rm(path, { recursive: true, force: true });
  });

  return {
    async follow(block) {
      if (block.file !== undefined) return write(block);
      if (block.language !== "sh") {
        const page = server();
        if (!page) return expect(said).toContain((await local(block.text)).trim());
        await seePage?.(block.text.trim(), serverPort);
        return end(page);
      }
      for (const line of shellLines(block.text)) {
        if (leftOut[line] === undefined) await (serving.test(line) ? serve(line) : type(line));
      }
    },
    leave() {
      const watched = dev()?.text();
      const events = watched?.split("\n").filter((line) => /^\d\d:\d\d:\d\d /.test(line)) ?? [];
      if (watched !== undefined) expect(events.at(-1)).toMatch(/ (enabled|reloaded|restart-required) /);
    },
  };
}
