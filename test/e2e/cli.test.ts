import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "svc/sdk/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { watchClient } from "../../sdk/testing/wire-check.ts";
import { type ScriptedGateway, startScriptedGateway } from "../fakes/scripted-gateway.ts";
import { freePort } from "../servers/ports.ts";
import { configured, freshHome, gatewayIn, root, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

describe("with a running gateway", () => {
  let home: Home;
  let gateway: Running;
  beforeAll(async () => {
    home = await configured(await freshHome());
    gateway = await gatewayIn(home);
  });
  afterAll(stopAll);

  test("gateway status shows the healthy baseline and exits with 0", async () => {
    const { code, stdout } = await svcCommand(home, ["gateway", "status", "--require-rpc"]);
    expect(stdout).toMatch(new RegExp(`^Runtime: running \\(pid ${gateway.child.pid}, up \\d+s\\)$`, "m"));
    expect(stdout).toMatch(/^Connectivity probe: ok \(\d+ms\)$/m);
    expect(stdout).toMatch(/^Capability: admin-capable$/m);
    expect(stdout).toMatch(/^Read probe: ok$/m);
    expect(stdout).toMatch(/^Service: not installed$/m);
    expect(stdout).toMatch(new RegExp(`^Gateway: bind=loopback \\(127\\.0\\.0\\.1\\), port=${gateway.port} \\(source: lock\\)$`, "m"));
    expect(stdout).toContain("Config: ~/.svc/svc.json (valid)\n");
    expect(code).toBe(0);
  });

  test("sessions list into a pipe shows a foreign title, escape sequences and all", async () => {
    await command(home, ["agent", "--message", "\u001b[2J\u202etitle", "--session-key", "foreign"]);
    const { code, stdout } = await svcCommand(home, ["sessions", "list", "--search", "foreign"]);
    expect([code, stdout.split("\n")[1]]).toEqual([0, expect.stringMatching(/^agent:main:foreign {2}.* {2}\\u001b\[2J\\u202etitle$/)]);
  });

  test("gateway status --json says the same as data", async () => {
    const { code, value } = await commandJson(home, ["gateway", "status", "--require-rpc"]);
    expect(code).toBe(0);
    expect(value).toMatchObject({
      ok: true,
      service: {
        manager: "none",
        installed: false,
        runtime: { status: "running", pid: gateway.child.pid },
        audit: { ok: true, issues: [] },
      },
      config: { exists: true, valid: true, issues: [] },
      gateway: { mode: "local", bind: "loopback", port: gateway.port, portSource: "lock", secretSource: "config" },
      port: { status: "busy", listeners: [{ pid: gateway.child.pid, isGateway: true }] },
      probe: { ok: true, capability: "admin_capable", reason: null },
      rpc: { ok: true, method: "health" },
      lastRefusal: null,
    });
  });

  test("gateway status with a wrong token fails with the machine reason; --no-probe does not look", async () => {
    const wrong = await command(home, ["gateway", "status", "--token", "wrong"]);
    expect(wrong.stdout).toMatch(/^Connectivity probe: failed \(auth: token_mismatch\)$/m);
    expect(wrong.stdout).toMatch(/^Capability: unknown$/m);
    expect(wrong.code).toBe(1);
    const blind = await command(home, ["gateway", "status", "--no-probe", "--token", "wrong"]);
    expect(blind.stdout).toMatch(/^Connectivity probe: skipped$/m);
    expect(blind.code).toBe(0);
  });

  test("health and gateway health print the state; --json the whole snapshot", async () => {
    const { code, stdout } = await command(home, ["health"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Gateway: ok \(.*, ready, up \d+s, \d+ MB/);
    const { value } = await commandJson(home, ["gateway", "health", "--verbose"]);
    expect(value).toMatchObject({ ok: true, phase: "ready", plugins: { loaded: expect.arrayContaining(["agents", "store"]), errors: [] } });
  });

  test("gateway probe asks this gateway once, and says what it would let us do", async () => {
    const { code, value } = await commandJson(home, ["gateway", "probe"]);
    expect({ code, value }).toEqual({
      code: 0,
      value: {
        ok: true,
        degraded: false,
        primary: "local",
        targets: [
          {
            id: "local",
            url: gateway.url.replace("http", "ws"),
            connect: { ok: true, latencyMs: expect.any(Number), error: null },
            read: { ok: true },
            auth: { role: "operator", scopes: expect.arrayContaining(["operator.admin"]) },
            server: { bootId: expect.any(String), version: expect.any(String) },
          },
        ],
        warnings: [],
      },
    });
    const twice = await command(home, ["gateway", "probe", "--url", `ws://localhost:${gateway.port}`, "--token", token]);
    expect(twice).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^explicit .*\n[\s\S]*^local .*\n {2}Connect: ok/m) });
    const wrong = await command(home, ["gateway", "probe", "--token", "wrong"]);
    expect(wrong).toMatchObject({ code: 0, stdout: expect.stringContaining("Connect: failed (auth: token_mismatch)") });
  });

  test("status --deep and --all ask channels and system, and leave nothing out", async () => {
    const { code, stdout } = await command(home, ["status", "--deep", "--all"]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Service +not installed$/m) });
    expect(stdout).toMatch(/^Plugins\n {2}.*operator/m);
    expect((await commandJson(home, ["status", "--deep"])).value).toMatchObject({
      channels: [],
      otherServices: [],
      service: { issues: [] },
    });
  });

  test("status prints one table; --json the payload of the method", async () => {
    const { code, stdout } = await command(home, ["status"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Item +Value\nSystem /);
    expect(stdout).toMatch(new RegExp(`^Gateway +ws://127\\.0\\.0\\.1:${gateway.port}, .*, ready, pid ${gateway.child.pid}`, "m"));
    expect((await commandJson(home, ["status"])).value).toMatchObject({ ok: true, phase: "ready", pid: gateway.child.pid });
  });

  test("gateway call prints the payload, and a failed one the wire's error", async () => {
    const health = await command(home, ["gateway", "call", "health", "--params", '{"probe":true}']);
    expect(JSON.parse(health.stdout)).toMatchObject({ ok: true });
    expect(await command(home, ["gateway", "call", "foo.bar"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "svc: unknown method: foo.bar\n",
    });
    const { code, value } = await commandJson(home, ["gateway", "call", "agent"]);
    expect(code).toBe(1);
    expect(value).toMatchObject({
      ok: false,
      error: { type: "rpc", code: "INVALID_REQUEST", message: expect.stringMatching(/^invalid agent params/) },
    });
    expect(await command(home, ["gateway", "call", "health", "--params", "[1]"])).toMatchObject({ code: 2 });
  });

  test("gateway call --expect-final waits for the end of a run; without it `accepted` is the answer", async () => {
    const params = (key: string) => ["--params", JSON.stringify({ message: "hello", idempotencyKey: key })];
    const first = await command(home, ["gateway", "call", "agent", ...params("cli-1")]);
    expect(JSON.parse(first.stdout)).toMatchObject({ runId: "cli-1", status: "accepted" });
    const final = await command(home, ["gateway", "call", "agent", "--expect-final", ...params("cli-2")]);
    expect(JSON.parse(final.stdout)).toMatchObject({ runId: "cli-2", status: "ok" });
  });

  test("plugins list names every plugin with its state in the gateway", async () => {
    const { code, value } = await commandJson(home, ["plugins", "list"]);
    expect(code).toBe(0);
    expect(value).toMatchObject({ ok: true, source: "gateway" });
    const plugins = value.plugins as Array<{ id: string; state: string }>;
    expect(plugins.find((p) => p.id === "operator")?.state).toBe("active");
    expect((await command(home, ["plugins", "list"])).stdout).toMatch(/^operator +\S+ +bundled +active /m);
  });

  test("dashboard prints the address with the token in its fragment, --secret the secret alone", async () => {
    const { code, stdout } = await command(home, ["dashboard", "--no-open"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `http://127.0.0.1:${gateway.port}/#token=${token}\n` });
    expect((await command(home, ["dashboard", "--secret"])).stdout).toBe(`${token}\n`);
  });

  test("gateway hints tells how to ask, without the token where no terminal is", async () => {
    const { stdout } = await svcCommand(home, ["gateway", "hints"]);
    expect(stdout).toContain(`svc is ready on ws://127.0.0.1:${gateway.port}`);
    expect(stdout).toContain("agent --message");
    expect(stdout).toContain(`curl -s http://127.0.0.1:${gateway.port}/v1/chat/completions`);
    expect(stdout).not.toContain(token);
    expect(gateway.out.stdout).toContain(`svc is ready on ws://127.0.0.1:${gateway.port}`);
    expect(`${gateway.out.stdout}${gateway.out.stderr}`).not.toContain(token);
  });

  test("the shell command that the hints show really asks the question", async () => {
    const { stdout } = await command(home, ["gateway", "hints"]);
    const curl = /Ask by curl {2}([\s\S]*?'\n)/.exec(stdout)?.[1] ?? expect.fail("no curl command");
    const shell = spawn("sh", ["-c", curl.replaceAll("node bin/svc.mjs", `${process.execPath} ${join(root, "bin/svc.mjs")}`)], {
      env: home.env,
      cwd: root,
    });
    let body = "";
    shell.stdout.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    await once(shell, "close");
    expect(JSON.parse(body)).toMatchObject({ object: "chat.completion", choices: [{ finish_reason: "stop" }] });
  });

  test("a config that became invalid is shown with line and column and does not cut the operator off", async () => {
    const path = join(home.stateDir, "svc.json");
    const good = await readFile(path, "utf8");
    await writeFile(path, good.replace('"mode"', '"prot":1,"mode"'));
    try {
      const { code, stdout } = await command(home, ["gateway", "status"]);
      expect(stdout).toContain("(invalid)");
      expect(stdout).toContain('svc.json:1:13  gateway.prot: unknown key "prot"');
      expect(stdout).toContain('hint: did you mean "port"?');
      expect(stdout).toMatch(/^Connectivity probe: ok/m);
      expect(code).toBe(0);
    } finally {
      await writeFile(path, good);
    }
  });

  test("a second instance refuses with 78, in words and as JSON of the status", async () => {
    const other = await configured(await freshHome());
    const env = { SVC_GATEWAY_PORT: String(gateway.port) };
    const second = await svcCommand(other, ["gateway"], env);
    expect(second.code).toBe(78);
    expect(second.stderr).toContain(`another gateway instance is already listening on ws://127.0.0.1:${gateway.port}`);
    expect(second.stderr).toContain(`pid ${gateway.child.pid}`);
    const { value } = await commandJson(other, ["gateway", "status"]);
    expect(value).toMatchObject({ lastRefusal: { code: "already-listening" } });
    expect((await command(other, ["gateway", "status"])).stdout).toMatch(/^Last refusal: .*already listening/m);
  });

  test("the client of svc/sdk/client connects, sees agent events in order, and comes back after the gateway's restart", async () => {
    const own = await configured(await freshHome());
    const port = String(await freePort());
    const first = await gatewayIn(own, ["--port", port]);
    const client = watchClient(createClient({ url: `ws://127.0.0.1:${port}`, auth: { token: token } }));
    const seqs: number[] = [];
    // Before it connects: events of the start may come with the answer.
    client.on("*", (_, frame) => frame.seq !== undefined && seqs.push(frame.seq));
    const boot = (await client.connect()).server.bootId;
    const final = await client.request("agent", { message: "hello", idempotencyKey: "c-1" }, { onAccepted: () => undefined });
    expect(final).toMatchObject({ runId: "c-1", status: "ok" });
    expect(seqs).toEqual(seqs.map((_, i) => i + 1));

    const states: string[] = [];
    const back = new Promise((resolve) => client.onGap(resolve));
    client.onState((state) => states.push(state.state));
    await first.kill("SIGTERM");
    await gatewayIn(own, ["--port", port]);
    expect(await back).toMatchObject({ cause: "reconnect", health: { ok: true }, presence: [{ reason: "self" }] });
    expect(states[0]).toBe("waiting");
    expect(client.hello?.server.bootId).not.toBe(boot);
    await client.close();
  });
});

describe("with no gateway", () => {
  afterAll(stopAll);

  test.each([[["health"]], [["gateway", "health"]], [["status"]], [["gateway", "call", "health"]], [["agent", "--message", "hi"]]])(
    "svc %j fails at once, says where it looked and how to start one",
    async (args) => {
      const home = await configured(await freshHome());
      const port = await freePort();
      const env = { SVC_GATEWAY_PORT: String(port) };
      const message = `gateway not reachable at ws://127.0.0.1:${port}: connection refused; start it with: svc gateway`;
      expect(await command(home, args, env)).toEqual({ code: 1, stdout: "", stderr: `svc: ${message}\n` });
      const { code, value } = await commandJson(home, args, env);
      expect(code).toBe(1);
      expect(value).toEqual({ ok: false, error: { type: "transport", code: "gateway-unreachable", message } });
    },
  );

  test("gateway status says stopped and refused, exits with 1 and writes nothing", async () => {
    const home = await freshHome();
    const { code, stdout } = await command(home, ["gateway", "status"], { SVC_GATEWAY_PORT: String(await freePort()) });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Runtime: stopped$/m);
    expect(stdout).toMatch(/^Connectivity probe: failed \(refused\)$/m);
    expect(stdout).toContain("(missing)");
    await expect(readdir(home.stateDir)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("gateway status names what is no gateway", async () => {
    const server = createServer((_, res) => res.end("hello")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, value } = await commandJson(await freshHome(), ["gateway", "status", "--port", String(port)]);
    server.close();
    expect(code).toBe(1);
    expect(value).toMatchObject({ ok: false, probe: { ok: false, reason: "not a gateway" }, port: { status: "busy" } });
    expect(value).toMatchObject({ gateway: { portSource: "flag" }, service: { runtime: { status: "unknown" } } });
  });

  test("plugins list comes from the manifests and the config", async () => {
    const home = await configured(await freshHome(), { plugins: { deny: ["openai-http"] } });
    const { code, value } = await commandJson(home, ["plugins", "list"]);
    expect(code).toBe(0);
    expect(value.source).toBe("manifests");
    const plugins = value.plugins as Array<{ id: string; state: string; reason?: string }>;
    expect(plugins.find((p) => p.id === "openai-http")).toMatchObject({ state: "blocked", reason: "denied: listed in plugins.deny" });
    expect(plugins.find((p) => p.id === "store")).toMatchObject({ state: "ready" });
  });
});

describe("profile and environment decide where everything lives:", () => {
  afterAll(stopAll);
  test.each([
    [[], {}, ".svc", "default", "state dir"],
    [["--profile", "work"], {}, ".svc-work", "profile", "state dir"],
    [["--dev"], {}, ".svc-dev", "profile", "state dir"],
    [[], { SVC_PROFILE: "work" }, ".svc-work", "profile", "state dir"],
    [["--profile", "home"], { SVC_PROFILE: "work" }, ".svc-home", "profile", "state dir"],
    [["--profile", "default"], { SVC_PROFILE: "work" }, ".svc", "default", "state dir"],
    [["--profile", "work"], { SVC_STATE_DIR: "~/elsewhere" }, "elsewhere", "SVC_STATE_DIR", "state dir"],
    [[], { SVC_STATE_DIR: "undefined" }, ".svc", "default", "state dir"],
    [["--dev"], { SVC_CONFIG_PATH: "~/own.json" }, ".svc-dev", "profile", "SVC_CONFIG_PATH"],
  ])("svc %j with %j → %s", async (flags, env, dir, stateSource, configSource) => {
    const home = await freshHome();
    const args = [...flags, "gateway", "status", "--no-probe"];
    const { value } = await commandJson(home, args, { SVC_GATEWAY_PORT: "", ...env });
    const base = home.env.HOME as string;
    const path = configSource === "SVC_CONFIG_PATH" ? join(base, "own.json") : join(base, dir, "svc.json");
    expect(value).toMatchObject({
      state: { path: join(base, dir), source: stateSource },
      config: { path, source: configSource },
      gateway: { port: dir === ".svc-dev" ? 19_001 : 18_789, portSource: "default" },
    });
  });
});

describe("with a gateway that does not answer", () => {
  let silent: ScriptedGateway;
  let home: Home;
  beforeAll(async () => {
    silent = await startScriptedGateway();
    home = await freshHome();
  });
  afterAll(async () => {
    await silent.close();
    await stopAll();
  });

  test("a call ends after its --timeout", async () => {
    // Long enough for the handshake on a slow machine, which the peer does answer.
    const { code, value } = await commandJson(home, ["gateway", "call", "health", "--url", silent.url, "--timeout", "5000"]);
    expect(code).toBe(1);
    expect(value).toEqual({
      ok: false,
      error: { type: "transport", code: "request-timed-out", message: "health: no answer within 5000 ms" },
    });
  });

  test("Ctrl-C ends it at once with 130, and the connection with a close frame", async () => {
    const args = [join(root, "bin/svc.mjs"), "gateway", "call", "health", "--url", silent.url];
    const child = spawn(process.execPath, args, { env: home.env, stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const peer = await silent.peer(2);
    await eventually(() => peer.requests.length > 0);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(await peer.closed).toMatchObject({ code: 1000 });
    expect(stderr).toBe("");
  });
});

describe("--version and root help", () => {
  test.each([
    [["--version"], /^\d+\.\d+\.\d+\n$/],
    [["-V"], /^\d+\.\d+\.\d+\n$/],
    [["--profile", "x", "--version"], /^\d+\.\d+\.\d+\n$/],
    [["--help"], /gateway status +Show whether the gateway is running/],
    [["help"], /gateway status/],
    [[], /Usage: svc/],
  ])("svc %j answers", async (args, answer) => {
    const home = await freshHome();
    const { code, stdout, stderr } = await svcCommand(home, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(answer);
    await home.remove();
  });

  test("load no module of the product and no package at all", async () => {
    // A copy without dist, sources and node_modules: whatever they imported would be missing.
    const bare = await mkdtemp(join(tmpdir(), "svc-bare-"));
    await cp(join(root, "bin"), join(bare, "bin"), { recursive: true });
    await cp(join(root, "package.json"), join(bare, "package.json"));
    for (const id of await readdir(join(root, "plugins"))) {
      const manifest = join(root, "plugins", id, "svc.plugin.json");
      await cp(manifest, join(bare, "plugins", id, "svc.plugin.json")).catch(() => undefined);
    }
    for (const args of [["--version"], ["--help"], ["help"], []]) {
      const child = spawn(process.execPath, [join(bare, "bin/svc.mjs"), ...args], { stdio: ["ignore", "pipe", "pipe"] });
      const out = once(child.stdout, "data");
      expect((await once(child, "close"))[0]).toBe(0);
      expect(String((await out)[0])).not.toBe("");
    }
    await rm(bare, { recursive: true, force: true });
  });
});
