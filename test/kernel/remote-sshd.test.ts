import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";
import { commandPath, needs } from "../servers/needs.ts";
import { freePort, listens } from "../servers/ports.ts";

const { describe: whereSshIs } = needs("sshd", "ssh", "ssh-keygen");
const run = promisify(execFile);
/** Folder that an sshd of root wants, whatever it is told. */
const emptyRoom = "/run/sshd";

whereSshIs("through a real sshd", () => {
  let gateway: TestGateway;
  let folder: string;
  let port: number;
  let sshd: ChildProcess;
  let madeRoom = false;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-sshd-"));
    port = await freePort();
    gateway = await createTestGateway({ plugins: ["store", "operator"] });
    for (const name of ["host", "user", "stranger"]) await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
    await writeFile(join(folder, "authorized"), await readFile(join(folder, "user.pub")), { mode: 0o600 });
    await writeFile(join(folder, "known"), `[127.0.0.1]:${port} ${await readFile(join(folder, "host.pub"), "utf8")}`);
    const lines = ["ListenAddress 127.0.0.1", `Port ${port}`, `HostKey ${folder}/host`, `AuthorizedKeysFile ${folder}/authorized`];
    const rules = ["StrictModes no", "UsePAM no", "PasswordAuthentication no", `PidFile ${folder}/pid`];
    await writeFile(join(folder, "sshd.conf"), `${[...lines, ...rules].join("\n")}\n`);
    // The files of the user who runs this test are not looked into.
    await writeFile(join(folder, "ssh.conf"), `UserKnownHostsFile ${folder}/known\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\n`);
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin/ssh"), `#!/bin/sh\nexec ${commandPath("ssh")} -F ${folder}/ssh.conf "$@"\n`);
    await chmod(join(folder, "bin/ssh"), 0o700);
    if (process.getuid?.() === 0 && !existsSync(emptyRoom)) {
      await mkdir(emptyRoom, { mode: 0o755 });
      madeRoom = true;
    }
    sshd = spawn(commandPath("sshd") ?? "", ["-D", "-e", "-f", join(folder, "sshd.conf")], { stdio: "ignore" });
    await eventually(() => listens(port));
  });

  afterAll(async () => {
    await gateway?.close();
    if (sshd && sshd.exitCode === null) {
      const ended = once(sshd, "exit");
      sshd.kill();
      await ended;
    }
    if (madeRoom) await rm(emptyRoom, { recursive: true });
    await rm(folder, { recursive: true, force: true });
  });

  async function svc(identity: string, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    const ssh = { transport: "ssh", sshTarget: `${userInfo().username}@127.0.0.1:${port}`, sshIdentity: join(folder, identity) };
    const remote = { ...ssh, url: gateway.wsUrl, token: gateway.token };
    await writeFile(join(folder, "svc.json"), JSON.stringify({ gateway: { mode: "remote", remote } }));
    let out = "";
    let err = "";
    const code = await runCommandLine(argv, {
      env: { HOME: folder, SVC_STATE_DIR: folder, PATH: `${folder}/bin:${process.env.PATH ?? ""}` },
      cwd: folder,
      stdout: { write: (part: string) => (out += part), isTTY: false },
      stderr: { write: (part: string) => (err += part), isTTY: false },
      interrupt: () => ({ signal: new AbortController().signal, exitCode: (own: number) => own, dispose: () => undefined }),
    });
    return { code, out, err };
  }

  test("a command reaches the gateway with the key that is authorised", async () => {
    const { code, out } = await svc("user", "health", "--json");
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, ok: true });
  });

  test("and says what sshd said about another one", async () => {
    const { code, err } = await svc("stranger", "health");
    expect(code).toBe(1);
    expect(err).toMatch(/ssh ended with code 255: .*Permission denied \(publickey.*try it by hand: ssh -p \d+ \S+@127\.0\.0\.1$/m);
  });
});
