import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";
import { type FakeSsh, fakeSsh } from "../fakes/ssh.ts";

const ownToken = "token-of-the-gateway-here";
let gateway: TestGateway;
let home: string;
let ssh: FakeSsh;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["store", "operator"] });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-remote-"));
  ssh = await fakeSsh(home);
  return () => rm(home, { recursive: true, force: true });
});

/** `svc` on another machine, whose config says `gateway.mode: "remote"`. */
async function svc(remote: object, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  await writeFile(join(home, "svc.json"), JSON.stringify({ gateway: { mode: "remote", auth: { token: ownToken }, remote } }));
  let out = "";
  let err = "";
  const code = await runCommandLine(argv, {
    env: { HOME: home, SVC_STATE_DIR: home, ...ssh.env },
    cwd: home,
    stdout: { write: (part: string) => (out += part), isTTY: false },
    stderr: { write: (part: string) => (err += part), isTTY: false },
    interrupt: () => ({ signal: new AbortController().signal, exitCode: (own: number) => own, dispose: () => undefined }),
  });
  return { code, out, err };
}

const isRunning = (pid: number) => {
  if (pid <= 0) throw new Error("it never ran");
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("in gateway.mode remote a command speaks to the gateway that gateway.remote names", () => {
  test("with its own token", async () => {
    const { code, out } = await svc({ url: gateway.wsUrl, token: gateway.token }, "health", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true });
  });

  test("and never sends it the token of the gateway here", async () => {
    const { code, err, out } = await svc({ url: gateway.wsUrl }, "health");
    expect(code).toBe(1);
    expect(err).toContain("gateway token missing");
    expect(err + out).not.toContain(ownToken);
  });

  test("also those that work without one", async () => {
    const { out } = await svc({ url: gateway.wsUrl, token: gateway.token }, "plugins", "list", "--json");
    expect(JSON.parse(out)).toMatchObject({ gateway: "running" });
  });

  test("svc gateway status says which gateway that is", async () => {
    const { code, out } = await svc({ url: gateway.wsUrl, token: gateway.token }, "gateway", "status", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      gateway: { mode: "remote", bind: "remote", url: gateway.wsUrl, portSource: "remote", secretSource: "config" },
      port: { listeners: [] },
      probe: { ok: true },
    });
    const { host, port } = new URL(gateway.wsUrl);
    const shown = (await svc({ url: gateway.wsUrl, token: gateway.token }, "gateway", "status")).out;
    expect(shown).toContain(`\nGateway: bind=remote (${host.replace(`:${port}`, "")}), port=${port} (source: remote)\n`);
    expect(shown).not.toMatch(/^(Port|The gateway of this profile)/m);
  });
});

describe("transport ssh", () => {
  const through = (more: object = {}) => ({ transport: "ssh", url: gateway.wsUrl, token: gateway.token, sshTarget: "me@gw", ...more });

  test("forwards a port by the system's ssh, which ends with the command", async () => {
    const { code, out } = await svc(through({ sshIdentity: "~/.ssh/svc" }), "health", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true });
    const [run, ...others] = await ssh.runs();
    expect(others).toEqual([]);
    expect(run).toMatchObject({ destination: "me@gw", leaked: [], identity: expect.stringMatching(/^\/.*\/\.ssh\/svc$/) });
    expect(run?.forward).toMatch(new RegExp(`^127\\.0\\.0\\.1:\\d+:127\\.0\\.0\\.1:${gateway.gateway.port}$`));
    await eventually(() => !isRunning(run?.pid ?? -1));
  });

  test("does not go around the gateway's auth", async () => {
    const { code, err } = await svc(through({ token: "wrong" }), "health");
    expect(code).toBe(1);
    expect(err).toContain("gateway token mismatch");
    const [run] = await ssh.runs();
    await eventually(() => !isRunning(run?.pid ?? -1));
  });

  test("that is refused says what ssh said, and what to try", async () => {
    const { code, err } = await svc(through({ sshTarget: "me@refusing" }), "health");
    expect(code).toBe(1);
    expect(err).toContain("ssh ended with code 255: me@refusing: Permission denied (publickey).; try it by hand: ssh me@refusing");
  });

  test("to a host that ssh would take for an option runs nothing", async () => {
    const { code, err } = await svc(through({ sshTarget: "-oProxyCommand=touch x" }), "health");
    expect(code).toBe(2);
    expect(err).toContain("gateway.remote.sshTarget: expected");
    expect(await ssh.runs()).toEqual([]);
  });
});
