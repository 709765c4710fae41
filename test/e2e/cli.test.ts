import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "svc/sdk/client";
import { eventually } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const svc = join(root, "bin/svc.mjs");

const homes: Home[] = [];
const running: Running[] = [];

async function freshHome(): Promise<Home> {
  const home = await createHome();
  homes.push(home);
  return home;
}

async function gatewayIn(home: Home, args: string[] = [], env: Record<string, string> = {}): Promise<Running> {
  const gateway = await startGateway(home, args, env);
  running.push(gateway);
  return gateway;
}

async function configured(home: Home, config: object = { gateway: { mode: "local", auth: { token: "e2e-token-1234" } } }): Promise<Home> {
  await mkdir(home.stateDir, { recursive: true });
  await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(config));
  return home;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** stdout as the one JSON document it has to be. */
async function json(home: Home, args: string[], env: Record<string, string> = {}) {
  const done = await svcCommand(home, [...args, "--json"], env);
  return { code: done.code, value: JSON.parse(done.stdout) as Record<string, unknown>, stderr: done.stderr };
}

async function stopAll(): Promise<void> {
  for (const gateway of running.splice(0)) await gateway.kill("SIGTERM");
  for (const home of homes.splice(0)) await home.remove();
}

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
    expect(stdout).toContain(`Config: ${join(home.stateDir, "svc.json")} (valid; source: state dir)`);
    expect(code).toBe(0);
  });

  test("gateway status --json says the same as data", async () => {
    const { code, value } = await json(home, ["gateway", "status", "--require-rpc"]);
    expect(code).toBe(0);
    expect(value).toMatchObject({
      ok: true,
      service: { manager: "none", installed: false, runtime: { status: "running", pid: gateway.child.pid } },
      config: { exists: true, valid: true, issues: [] },
      gateway: { mode: "local", bind: "loopback", port: gateway.port, portSource: "lock", secretSource: "config" },
      port: { status: "busy", listeners: [{ pid: gateway.child.pid, isGateway: true }] },
      probe: { ok: true, capability: "admin_capable", reason: null },
      rpc: { ok: true, method: "health" },
      lastRefusal: null,
    });
  });

  test("gateway status with a wrong token fails with the machine reason; --no-probe does not look", async () => {
    const wrong = await svcCommand(home, ["gateway", "status", "--token", "wrong"]);
    expect(wrong.stdout).toMatch(/^Connectivity probe: failed \(auth: token_mismatch\)$/m);
    expect(wrong.stdout).toMatch(/^Capability: unknown$/m);
    expect(wrong.code).toBe(1);
    const blind = await svcCommand(home, ["gateway", "status", "--no-probe", "--token", "wrong"]);
    expect(blind.stdout).toMatch(/^Connectivity probe: skipped$/m);
    expect(blind.code).toBe(0);
    expect(await svcCommand(home, ["gateway", "status", "--deep"])).toMatchObject({ code: 2 });
  });

  test("health and gateway health print the state; --json the whole snapshot", async () => {
    const { code, stdout } = await svcCommand(home, ["health"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Gateway: ok \(.*, ready, up \d+s, \d+ MB/);
    const { value } = await json(home, ["gateway", "health", "--verbose"]);
    expect(value).toMatchObject({ ok: true, phase: "ready", plugins: { loaded: expect.arrayContaining(["agents", "store"]), errors: [] } });
  });

  test("status prints one table; --json the payload of the method", async () => {
    const { code, stdout } = await svcCommand(home, ["status"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Item +Value\nSystem /);
    expect(stdout).toMatch(new RegExp(`^Gateway +ws://127\\.0\\.0\\.1:${gateway.port}, .*, ready, pid ${gateway.child.pid}`, "m"));
    expect((await json(home, ["status"])).value).toMatchObject({ ok: true, phase: "ready", pid: gateway.child.pid });
  });

  test("gateway call prints the payload, and a failed one the wire's error", async () => {
    const health = await svcCommand(home, ["gateway", "call", "health", "--params", '{"probe":true}']);
    expect(JSON.parse(health.stdout)).toMatchObject({ ok: true });
    expect(await svcCommand(home, ["gateway", "call", "foo.bar"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "svc: unknown method: foo.bar\n",
    });
    const { code, value } = await json(home, ["gateway", "call", "agent"]);
    expect(code).toBe(1);
    expect(value).toMatchObject({
      ok: false,
      error: { type: "rpc", code: "INVALID_REQUEST", message: expect.stringMatching(/^invalid agent params/) },
    });
    expect(await svcCommand(home, ["gateway", "call", "health", "--params", "[1]"])).toMatchObject({ code: 2 });
  });

  test("gateway call --expect-final waits for the end of a run; without it `accepted` is the answer", async () => {
    const params = (key: string) => ["--params", JSON.stringify({ message: "hello", idempotencyKey: key })];
    const first = await svcCommand(home, ["gateway", "call", "agent", ...params("cli-1")]);
    expect(JSON.parse(first.stdout)).toMatchObject({ runId: "cli-1", status: "accepted" });
    const final = await svcCommand(home, ["gateway", "call", "agent", "--expect-final", ...params("cli-2")]);
    expect(JSON.parse(final.stdout)).toMatchObject({ runId: "cli-2", status: "ok" });
  });

  test("plugins list names every plugin with its state in the gateway", async () => {
    const { code, value } = await json(home, ["plugins", "list"]);
    expect(code).toBe(0);
    expect(value).toMatchObject({ ok: true, source: "gateway" });
    const plugins = value.plugins as Array<{ id: string; state: string }>;
    expect(plugins.find((p) => p.id === "operator")?.state).toBe("active");
    expect((await svcCommand(home, ["plugins", "list"])).stdout).toMatch(/^operator +\S+ +bundled +active /m);
  });

  test("dashboard prints the address with the token in its fragment, --secret the secret alone", async () => {
    const { code, stdout } = await svcCommand(home, ["dashboard", "--no-open"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `http://127.0.0.1:${gateway.port}/#token=e2e-token-1234\n` });
    expect((await svcCommand(home, ["dashboard", "--secret"])).stdout).toBe("e2e-token-1234\n");
  });

  test("gateway hints tells how to ask, without the token where no terminal is", async () => {
    const { stdout } = await svcCommand(home, ["gateway", "hints"]);
    expect(stdout).toContain(`svc is ready on ws://127.0.0.1:${gateway.port}`);
    expect(stdout).toContain("agent --message");
    expect(stdout).toContain(`curl -s http://127.0.0.1:${gateway.port}/v1/chat/completions`);
    expect(stdout).not.toContain("e2e-token-1234");
    expect(gateway.out.stdout).toContain(`svc is ready on ws://127.0.0.1:${gateway.port}`);
    expect(`${gateway.out.stdout}${gateway.out.stderr}`).not.toContain("e2e-token-1234");
  });

  test("the shell command that the hints show really asks the question", async () => {
    const { stdout } = await svcCommand(home, ["gateway", "hints"]);
    const curl = /Ask by curl {2}([\s\S]*?'\n)/.exec(stdout)?.[1] ?? expect.fail("no curl command");
    const shell = spawn("sh", ["-c", curl.replaceAll("node bin/svc.mjs", `${process.execPath} ${svc}`)], { env: home.env, cwd: root });
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
      const { code, stdout } = await svcCommand(home, ["gateway", "status"]);
      expect(stdout).toContain("(invalid; source: state dir)");
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
    const { value } = await json(other, ["gateway", "status"]);
    expect(value).toMatchObject({ lastRefusal: { code: "already-listening" } });
    expect((await svcCommand(other, ["gateway", "status"])).stdout).toMatch(/^Last refusal: .*already listening/m);
  });

  test("the client of svc/sdk/client connects, sees agent events in order, and comes back after the gateway's restart", async () => {
    const own = await configured(await freshHome());
    const port = String(await freePort());
    const first = await gatewayIn(own, ["--port", port]);
    const client = createClient({ url: `ws://127.0.0.1:${port}`, auth: { token: "e2e-token-1234" } });
    const boot = (await client.connect()).server.bootId;
    const seqs: number[] = [];
    client.on("*", (_, frame) => frame.seq !== undefined && seqs.push(frame.seq));
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
      expect(await svcCommand(home, args, env)).toEqual({ code: 1, stdout: "", stderr: `svc: ${message}\n` });
      const { code, value } = await json(home, args, env);
      expect(code).toBe(1);
      expect(value).toEqual({ ok: false, error: { type: "transport", code: "gateway-unreachable", message } });
    },
  );

  test("gateway status says stopped and refused, exits with 1 and writes nothing", async () => {
    const home = await freshHome();
    const { code, stdout } = await svcCommand(home, ["gateway", "status"], { SVC_GATEWAY_PORT: String(await freePort()) });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Runtime: stopped$/m);
    expect(stdout).toMatch(/^Connectivity probe: failed \(refused\)$/m);
    expect(stdout).toContain("(missing; source: state dir)");
    await expect(readdir(home.stateDir)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("gateway status names what is no gateway", async () => {
    const server = createServer((_, res) => res.end("hello")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, value } = await json(await freshHome(), ["gateway", "status", "--port", String(port)]);
    server.close();
    expect(code).toBe(1);
    expect(value).toMatchObject({ ok: false, probe: { ok: false, reason: "not a gateway" }, port: { status: "busy" } });
    expect(value).toMatchObject({ gateway: { portSource: "flag" }, service: { runtime: { status: "unknown" } } });
  });

  test("plugins list comes from the manifests and the config", async () => {
    const home = await configured(await freshHome(), { plugins: { deny: ["openai-http"] } });
    const { code, value } = await json(home, ["plugins", "list"]);
    expect(code).toBe(0);
    expect(value.source).toBe("manifests");
    const plugins = value.plugins as Array<{ id: string; state: string; reason?: string }>;
    expect(plugins.find((p) => p.id === "openai-http")).toMatchObject({ state: "blocked", reason: "denied: listed in plugins.deny" });
    expect(plugins.find((p) => p.id === "store")).toMatchObject({ state: "ready" });
  });
});

describe("svc setup", () => {
  afterEach(stopAll);

  test("writes mode and token with 0600, copies the example notes, and a gateway starts with that", async () => {
    const home = await freshHome();
    const { code, value } = await json(home, ["setup", "--non-interactive", "--if-missing"]);
    expect(code).toBe(0);
    const config = JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8"));
    expect(Object.keys(config.gateway)[0]).toBe("mode");
    expect(config.gateway).toEqual({ mode: "local", auth: { token: expect.stringMatching(/^[\w-]{43}$/) } });
    expect((await stat(join(home.stateDir, "svc.json"))).mode & 0o777).toBe(0o600);
    expect((await stat(home.stateDir)).mode & 0o777).toBe(0o700);
    const examples = (await readdir(join(root, "examples/workspace"), { recursive: true })).sort();
    expect((await readdir(join(home.stateDir, "workspace"), { recursive: true })).sort()).toEqual(examples);
    expect(value).toMatchObject({ ok: true, changed: true, secret: "generated", notes: examples.filter((f) => f.endsWith(".md")).length });
    await gatewayIn(home);
    expect(await svcCommand(home, ["health"])).toMatchObject({ code: 0 });
  });

  test("changes nothing the second time", async () => {
    const home = await freshHome();
    await svcCommand(home, ["setup"]);
    await writeFile(join(home.stateDir, "workspace", "MEMORY.md"), "mine");
    const before = await readFile(join(home.stateDir, "svc.json"), "utf8");
    const path = join(home.stateDir, "svc.json");
    expect(await svcCommand(home, ["setup", "--if-missing"])).toEqual({ code: 0, stdout: `Already set up: ${path}\n`, stderr: "" });
    const refused = await svcCommand(home, ["setup"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("exists and was not changed");
    expect(await readFile(path, "utf8")).toBe(before);
    expect(await readFile(join(home.stateDir, "workspace", "MEMORY.md"), "utf8")).toBe("mine");
  });

  test("takes port, bind and workspace, and leaves the secret to the environment that brings one", async () => {
    const home = await freshHome();
    const workspace = join(home.stateDir, "my notes");
    const args = ["setup", "--port", "18790", "--bind", "lan", "--workspace", workspace];
    expect(await svcCommand(home, args, { SVC_GATEWAY_TOKEN: "from-env-1234" })).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8"))).toEqual({
      gateway: { mode: "local", port: 18_790, bind: "lan" },
      agents: { defaults: { workspace } },
    });
    await expect(stat(join(home.stateDir, "workspace"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("an existing workspace is not touched", async () => {
    const home = await freshHome();
    await mkdir(join(home.stateDir, "workspace"), { recursive: true });
    expect((await json(home, ["setup"])).value).toMatchObject({ notes: 0 });
    expect(await readdir(join(home.stateDir, "workspace"))).toEqual([]);
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
    const { value } = await json(home, [...flags, "gateway", "status", "--no-probe"], { SVC_GATEWAY_PORT: "", ...env });
    const base = home.env.HOME as string;
    const path = configSource === "SVC_CONFIG_PATH" ? join(base, "own.json") : join(base, dir, "svc.json");
    expect(value).toMatchObject({
      state: { path: join(base, dir), source: stateSource },
      config: { path, source: configSource },
      gateway: { port: dir === ".svc-dev" ? 19_001 : 18_789, portSource: "default" },
    });
  });
});

describe("svc gateway", () => {
  afterEach(stopAll);

  test("without a config refuses with 78 and the reason, which status remembers", async () => {
    const home = await freshHome();
    const refused = await svcCommand(home, ["gateway"]);
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain(`Gateway start blocked: set gateway.mode=local (no config at ${join(home.stateDir, "svc.json")})`);
    expect((await json(home, ["gateway", "status"])).value).toMatchObject({ lastRefusal: { code: "start-blocked" } });
  });

  test("with --allow-unconfigured starts with a secret of its own, which the local CLI finds", async () => {
    const home = await freshHome();
    const gateway = await gatewayIn(home, ["--allow-unconfigured"]);
    expect((await json(home, ["gateway", "status"])).value).toMatchObject({ ok: true, gateway: { secretSource: "runtime" } });
    expect(await gateway.kill("SIGTERM")).toBe(0);
    await expect(stat(join(home.stateDir, "gateway", "runtime-token"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(stat(join(home.stateDir, "svc.json"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("an invalid config is refused with every issue", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local", bind: "127.0.0.1", prot: 1 } });
    const { code, stderr } = await svcCommand(home, ["gateway"]);
    expect(code).toBe(78);
    expect(stderr).toContain("gateway.bind");
    expect(stderr).toContain('hint: did you mean "port"?');
  });

  test.each(["SIGTERM", "SIGINT"] as const)("%s stops it gracefully with 0", async (signal) => {
    const gateway = await gatewayIn(await configured(await freshHome()));
    expect(await gateway.kill(signal)).toBe(0);
    expect(gateway.out.stderr).toContain("stopped");
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("a second %s ends it at once with %i", async (signal, code) => {
    const home = await configured(await freshHome(), {
      gateway: { mode: "local", auth: { token: "e2e-token-1234" } },
      plugins: { load: { paths: [await slowToStop()] } },
    });
    const gateway = await gatewayIn(home);
    gateway.child.kill(signal);
    await eventually(() => gateway.out.stderr.includes("stopping slowly"));
    expect(await gateway.kill(signal)).toBe(code);
  });

  test("SIGHUP and SIGUSR1 neither end it nor open a debugger", async () => {
    const home = await configured(await freshHome());
    const gateway = await gatewayIn(home);
    for (const signal of ["SIGHUP", "SIGUSR1"] as const) {
      gateway.child.kill(signal);
      await eventually(() => gateway.out.stderr.includes(`${signal}: reload and restart are not available`));
    }
    expect(gateway.out.stderr).not.toContain("Debugger listening");
    expect(await svcCommand(home, ["health"])).toMatchObject({ code: 0 });
  });

  test("--force takes the port over from the one that holds it", async () => {
    const port = String(await freePort());
    const first = await gatewayIn(await configured(await freshHome()), ["--port", port]);
    const ended = once(first.child, "close");
    const home = await configured(await freshHome());
    await gatewayIn(home, ["--port", port, "--force"]);
    expect((await ended)[0]).toBe(0);
    expect((await json(home, ["gateway", "status"])).value).toMatchObject({ ok: true, gateway: { port: Number(port) } });
  });

  test("a port held by something else is named with its holder and exits with 1", async () => {
    const server = createServer((_, res) => res.end("not a gateway")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await svcCommand(await configured(await freshHome()), ["gateway", "--port", String(port)]);
    server.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`already listening on ws://127\\.0\\.0\\.1:${port} \\(held by .+, pid ${process.pid}\\): EADDRINUSE`),
    );
  });

  test("--password-file serves password mode; a missing or empty file is a usage error", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local" } });
    const file = join(home.stateDir, "password");
    await writeFile(file, "correct horse\n");
    await gatewayIn(home, ["--auth", "password", "--password-file", file]);
    expect(await svcCommand(home, ["health", "--password", "correct horse"])).toMatchObject({ code: 0 });
    const wrong = await json(home, ["health", "--password", "battery staple"]);
    expect(wrong.value).toMatchObject({ ok: false, error: { type: "auth", hint: expect.stringContaining("the secret came from flag") } });
    expect(await svcCommand(home, ["gateway", "--password-file", `${file}.none`])).toMatchObject({ code: 2 });
  });

  test("--dev --reset begins with empty state and keeps the old one aside", async () => {
    const home = await freshHome();
    const base = home.env.HOME as string;
    await mkdir(join(base, ".svc-dev"), { recursive: true });
    await writeFile(join(base, ".svc-dev", "mark"), "old");
    const dev: Home = { ...home, stateDir: join(base, ".svc-dev") };
    const child = await gatewayIn(dev, ["--dev", "--reset", "--allow-unconfigured"]);
    expect(await readdir(dev.stateDir)).not.toContain("mark");
    expect(await readFile(join(base, ".svc-dev.old", "mark"), "utf8")).toBe("old");
    await child.kill("SIGTERM");
    expect(await svcCommand(home, ["gateway", "--reset"])).toMatchObject({ code: 2 });
  });

  /** A plugin whose end takes as long as it may. */
  async function slowToStop(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "svc-slow-"));
    homes.push({ stateDir: folder, env: {}, remove: () => rm(folder, { recursive: true, force: true }) });
    await writeFile(
      join(folder, "svc.plugin.json"),
      JSON.stringify({ id: "slow-to-stop", version: "1.0.0", svc: { api: "^1.0.0" }, entry: "index.mjs" }),
    );
    await writeFile(
      join(folder, "index.mjs"),
      `export default { id: "slow-to-stop", version: "1.0.0", svc: { api: "^1.0.0" }, setup(ctx) {
         return { stop() { ctx.logger.info("stopping slowly"); return new Promise(() => {}); } };
       } };`,
    );
    return folder;
  }
});

describe("the program without a build", () => {
  afterEach(stopAll);

  test("npm start's program sets up, starts and prints where to look; a second one refuses", async () => {
    const home = await freshHome();
    const start = () =>
      spawn(process.execPath, [join(root, "bin/start.mjs")], {
        env: { ...home.env, SVC_GATEWAY_PORT: "", ...port },
        stdio: ["ignore", "pipe", "pipe"],
      });
    const port = { SVC_GATEWAY_PORT: String(await freePort()) };
    const first = start();
    let out = "";
    first.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    const closed = once(first, "close");
    await eventually(() => out.includes("svc is ready on"), 30_000);
    expect(out).toContain("Workspace:");
    const second = start();
    let err = "";
    second.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString();
    });
    expect((await once(second, "close"))[0]).toBe(78);
    expect(err).toContain("another gateway instance is already listening");
    first.kill("SIGINT");
    expect((await closed)[0]).toBe(0);
  });

  test("runs from its sources when asked to", async () => {
    const home = await configured(await freshHome());
    const done = await svcCommand(home, ["plugins", "list", "--json"], { SVC_FROM_SOURCE: "1" });
    expect(done.stderr).toBe("");
    expect(JSON.parse(done.stdout)).toMatchObject({ ok: true, source: "manifests" });
  });
});

describe("--version and root help", () => {
  test.each([
    [["--version"], /^\d+\.\d+\.\d+\n$/],
    [["-V"], /^\d+\.\d+\.\d+\n$/],
    [["--profile", "x", "--version"], /^\d+\.\d+\.\d+\n$/],
    [["--help"], /gateway status +Is the gateway running/],
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
