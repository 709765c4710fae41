import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { freePort } from "../servers/ports.ts";
import { behindModels, configured, freshHome, gatewayIn, json, removeLater, root, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

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
    await command(home, ["setup"]);
    await writeFile(join(home.stateDir, "workspace", "MEMORY.md"), "mine");
    const before = await readFile(join(home.stateDir, "svc.json"), "utf8");
    const path = join(home.stateDir, "svc.json");
    expect(await command(home, ["setup", "--if-missing"])).toEqual({ code: 0, stdout: `Already set up: ${path}\n`, stderr: "" });
    const refused = await command(home, ["setup"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("exists and was not changed");
    expect(await readFile(path, "utf8")).toBe(before);
    expect(await readFile(join(home.stateDir, "workspace", "MEMORY.md"), "utf8")).toBe("mine");
  });

  test("takes port, bind and workspace, and leaves the secret to the environment that brings one", async () => {
    const home = await freshHome();
    const workspace = join(home.stateDir, "my notes");
    const args = ["setup", "--port", "18790", "--bind", "lan", "--workspace", workspace];
    expect(await command(home, args, { SVC_GATEWAY_TOKEN: "from-env-1234" })).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8"))).toEqual({
      gateway: { mode: "local", port: 18_790, bind: "lan" },
      agents: { defaults: { workspace } },
    });
    await expect(stat(join(home.stateDir, "workspace"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("an existing workspace is not touched", async () => {
    const home = await freshHome();
    await mkdir(join(home.stateDir, "workspace"), { recursive: true });
    expect((await commandJson(home, ["setup"])).value).toMatchObject({ notes: 0 });
    expect(await readdir(join(home.stateDir, "workspace"))).toEqual([]);
  });
});

describe("svc gateway", () => {
  afterEach(stopAll);

  test("without a config refuses with 78 and the reason, which status remembers until it runs", async () => {
    const home = await freshHome();
    const refused = await svcCommand(home, ["gateway"]);
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain(`Gateway start blocked: set gateway.mode=local (no config at ${join(home.stateDir, "svc.json")})`);
    expect((await commandJson(home, ["gateway", "status"])).value).toMatchObject({ lastRefusal: { code: "start-blocked" } });

    const gateway = await gatewayHere(await configured(home));
    await eventually(async () => (await command(home, ["health"])).code === 0);
    expect(await gateway.stop()).toBe(0);
    // The earlier refusal is cleared by a good start, and stays cleared once the gateway is stopped.
    expect((await commandJson(home, ["gateway", "status"])).value).toMatchObject({ lastRefusal: null });
  });

  test("an invalid config is refused with every issue", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local", bind: "127.0.0.1", prot: 1 } });
    const { code, stderr } = await svcCommand(home, ["gateway"]);
    expect(code).toBe(78);
    expect(stderr).toContain("gateway.bind");
    expect(stderr).toContain('hint: did you mean "port"?');
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("a second %s ends it at once with %i", async (signal, code) => {
    const home = await configured(await freshHome(), {
      gateway: { mode: "local", auth: { token: "e2e-token-1234" } },
      plugins: { load: { paths: [await slowToStop()] }, allow: ["slow-to-stop"] },
    });
    const gateway = await gatewayIn(home);
    gateway.child.kill(signal);
    await eventually(() => gateway.out.stderr.includes("stopping slowly"));
    expect(await gateway.kill(signal)).toBe(code);
  });

  test("SIGHUP reads the config again, secrets reload the .env file; SIGUSR1 is refused where commands.restart is false; SIGINT stops it gracefully with 0", async () => {
    const key = { source: "env", provider: "default", id: "ACME_KEY" };
    const acme = { baseUrl: "http://127.0.0.1:9/v1", apiKey: key, models: [{ id: "m" }] };
    const home = await configured(await freshHome(), {
      gateway: { mode: "local", auth: { token } },
      commands: { restart: false },
      models: { providers: { acme } },
    });
    const gateway = await gatewayIn(home);
    gateway.child.kill("SIGHUP");
    await eventually(() => gateway.out.stderr.includes("SIGHUP: config unchanged"));
    expect(await svcCommand(home, ["health"])).toMatchObject({ code: 0 });

    expect((await commandJson(home, ["secrets", "reload"])).value).toMatchObject({ unavailable: ["models.providers.acme"] });
    await writeFile(join(home.stateDir, ".env"), "ACME_KEY=the-key-of-acme\n", { mode: 0o600 });
    expect((await commandJson(home, ["secrets", "reload"])).value).toMatchObject({ resolved: 1, unavailable: [] });

    gateway.child.kill("SIGUSR1");
    await eventually(() => gateway.out.stderr.includes("SIGUSR1: refused, commands.restart is false"));
    expect(gateway.out.stderr).not.toContain("Debugger listening");
    expect(await gateway.kill("SIGINT")).toBe(0);
    expect(gateway.out.stderr).toContain("stopped");
  });

  test("SIGUSR2 restarts it in the same process and opens no debugger", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local", auth: { token } }, plugins: { allow: [] } });
    const gateway = await gatewayIn(home);
    gateway.child.kill("SIGUSR2");
    await expectRestarted(home, gateway);
  });

  test("svc gateway restart returns when the gateway answers again", async () => {
    const home = await configured(await freshHome());
    const gateway = await gatewayHere(home);
    expect(await svcCommand(home, ["gateway", "restart"])).toMatchObject({ code: 0, stdout: "Restarted.\n" });
    expect(gateway.out.stderr.split("listening on")).toHaveLength(3);
    expect(await command(home, ["health"])).toMatchObject({ code: 0 });
  });

  test("SIGUSR1 restarts it in the same process, by the .env file as it is then, and opens no debugger", async () => {
    const bare = { plugins: { allow: [] } };
    const home = await configured(await freshHome(), {
      ...bare,
      gateway: { mode: "local", auth: { token } },
      env: { vars: { OTHER: "config" } },
    });
    const envFile = join(home.stateDir, ".env");
    await writeFile(envFile, "FIRST=1\nGONE=1\n", { mode: 0o600 });
    const gateway = await gatewayIn(home);
    await writeFile(envFile, "FIRST=1\nLATER_TOKEN=a-later-token-0123456789\n", { mode: 0o600 });
    // The running gateway has no such variable yet, so this can only come in by a restart.
    const config = { ...bare, gateway: { mode: "local", auth: { token: "${LATER_TOKEN}" } } };
    await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(config));
    gateway.child.kill("SIGUSR1");
    await expectRestarted(home, gateway);
  });

  test("a restart that would end in a refusal is not begun; the gateway stays, and status says why", async () => {
    const config = { gateway: { mode: "local", auth: { token } }, plugins: behindModels };
    const home = await configured(await freshHome(), config);
    const gateway = await gatewayIn(home);
    await writeFile(join(home.stateDir, "svc.json"), JSON.stringify({ ...config, gateway: { ...config.gateway, prot: 1 } }));
    await eventually(() => gateway.out.stderr.includes("config reload skipped"));
    gateway.child.kill("SIGUSR1");
    await eventually(() => gateway.out.stderr.includes("not restarting, the next start would be refused: "));

    const asked = await svcCommand(home, ["gateway", "restart"]);
    expect(asked).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining('gateway.prot: unknown key "prot"') });
    const health = await command(home, ["health"]);
    expect(health).toMatchObject({ code: 0, stdout: expect.stringContaining("Config reload: invalid since ") });
    const issue = 'gateway.prot: unknown key "prot"; see svc config validate';
    expect((await command(home, ["status"])).stdout).toContain(issue);
    expect(gateway.out.stderr.split("listening on")).toHaveLength(2);
  });

  test("under a supervisor a restart ends the process with 75", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local", auth: { token } }, plugins: { allow: [] } });
    const gateway = await gatewayIn(home, [], { SVC_SERVICE_MARKER: "test" });
    expect(await gateway.kill("SIGUSR1")).toBe(75);
  });

  test("--force takes the port over from the one that holds it", async () => {
    const port = String(await freePort());
    const bare = { gateway: { mode: "local", auth: { token } }, plugins: { allow: [] } };
    const first = await gatewayIn(await configured(await freshHome(), bare), ["--port", port]);
    const ended = once(first.child, "close");
    const home = await configured(await freshHome());
    await gatewayHere(home, ["--port", port, "--force"]);
    expect((await ended)[0]).toBe(0);
    expect((await commandJson(home, ["gateway", "status"])).value).toMatchObject({ ok: true, gateway: { port: Number(port) } });
  });

  test("a port held by something else is named with its holder and exits with 1", async () => {
    const server = createServer((_, res) => res.end("not a gateway")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await svcCommand(await configured(await freshHome()), ["gateway", "--port", String(port)]);
    server.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`port ${port} is in use by .+ \\(pid ${process.pid}\\): EADDRINUSE`));
  });

  test("--password-file serves password mode; a missing or empty file is a usage error", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local" } });
    const file = join(home.stateDir, "password");
    await writeFile(file, "correct horse\n");
    await gatewayHere(home, ["--auth", "password", "--password-file", file]);
    expect(await command(home, ["health", "--password", "correct horse"])).toMatchObject({ code: 0 });
    const without = await commandJson(home, ["health"]);
    expect(without.value).toMatchObject({ error: { hint: "no password was found; give --password, or set SVC_GATEWAY_PASSWORD" } });
    const wrong = await commandJson(home, ["health", "--password", "battery staple"]);
    expect(wrong.value).toMatchObject({ ok: false, error: { type: "auth", hint: expect.stringContaining("the secret came from flag") } });
    expect(await command(home, ["gateway", "--password-file", `${file}.none`])).toMatchObject({ code: 2 });
  });

  test("what --port and --bind decide is what banner and status show, whatever the environment says", async () => {
    const home = await configured(await freshHome());
    const [port, other] = [await freePort(), { SVC_GATEWAY_PORT: "1" }];
    const gateway = await gatewayHere(home, ["--port", String(port), "--bind", "lan"], other);
    await eventually(() => gateway.out.stdout.includes("svc is ready on"));
    expect(gateway.out.stdout).toContain(`svc is ready on ws://127.0.0.1:${port}\n`);
    expect(gateway.out.stdout).toContain(`Control UI   http://127.0.0.1:${port}/`);

    const { stdout } = await command(home, ["gateway", "status"], { SVC_GATEWAY_PORT: "" });
    expect(stdout).toMatch(new RegExp(`^Gateway: bind=lan \\(0\\.0\\.0\\.0\\), port=${port} \\(source: lock\\)$`, "m"));
    const elsewhere = `the gateway of this profile listens on port ${port}, not on that of SVC_GATEWAY_PORT`;
    expect((await command(home, ["health"], other)).stderr).toContain(`ws://127.0.0.1:1: connection refused; ${elsewhere}`);
  });

  test("--dev --reset begins with empty state and keeps the old one aside; --allow-unconfigured with a secret of its own, which the local CLI finds", async () => {
    const home = await freshHome();
    const base = home.env.HOME as string;
    await mkdir(join(base, ".svc-dev"), { recursive: true });
    await writeFile(join(base, ".svc-dev", "mark"), "old");
    const dev: Home = { ...home, stateDir: join(base, ".svc-dev") };
    const gateway = await gatewayHere(dev, ["--dev", "--reset", "--allow-unconfigured"]);
    expect(await readdir(dev.stateDir)).not.toContain("mark");
    expect(await readFile(join(base, ".svc-dev.old", "mark"), "utf8")).toBe("old");

    const status = await commandJson(dev, ["--dev", "gateway", "status"]);
    expect(status.value).toMatchObject({ ok: true, gateway: { secretSource: "runtime" } });
    expect(await gateway.stop()).toBe(0);
    await expect(stat(join(dev.stateDir, "gateway", "runtime-token"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(stat(join(dev.stateDir, "svc.json"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(await command(home, ["gateway", "--reset"])).toMatchObject({ code: 2 });
  });

  async function expectRestarted(home: Home, gateway: Running): Promise<void> {
    await eventually(() => gateway.out.stderr.split("listening on").length === 3);
    expect(gateway.out.stderr).not.toContain("Debugger listening");
    await eventually(async () => (await command(home, ["health"])).code === 0);
    expect(gateway.child.exitCode).toBeNull();
    expect(await gateway.kill("SIGTERM")).toBe(0);
    expect(gateway.out.stderr).toContain("stopped");
  }

  /** A plugin whose end takes as long as it may. */
  async function slowToStop(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "svc-slow-"));
    removeLater({ remove: () => rm(folder, { recursive: true, force: true }) });
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

describe("other ways to start", () => {
  afterEach(stopAll);

  test("npm start's program sets up, starts and prints where to look; a second one refuses", async () => {
    const home = await freshHome();
    const start = () =>
      spawn(process.execPath, [join(root, "bin/start.mjs")], {
        env: { ...home.env, ...port },
        stdio: ["ignore", "pipe", "pipe"],
      });
    const port = { SVC_GATEWAY_PORT: String(await freePort()) };
    const first = start();
    let out = "";
    first.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    const closed = once(first, "close");
    await eventually(() => out.includes("svc is ready on"));
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

  // Every module is translated first, unless an earlier run has left it in the cache.
  test("without a build everything runs from the sources", { timeout: 900_000 }, async () => {
    const copy = await mkdtemp(join(tmpdir(), "svc-sources-"));
    removeLater({ remove: () => rm(copy, { recursive: true, force: true }) });
    // An installation without `dist`. The sources are links, so that what was translated for them once serves every later run.
    await cp(join(root, "bin"), join(copy, "bin"), { recursive: true });
    for (const part of ["kernel", "sdk", "plugins", "package.json", "node_modules"]) await symlink(join(root, part), join(copy, part));
    const home = await configured(await freshHome());
    const run = (...args: string[]) =>
      spawn(process.execPath, [join(copy, "bin/svc.mjs"), ...args], { env: home.env, stdio: ["ignore", "pipe", "inherit"] });

    const start = async () => {
      const gateway = run("--log-level", "error", "gateway");
      onTestFinished(() => void gateway.kill("SIGKILL"));
      const closed = once(gateway, "close");
      let out = "";
      gateway.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString();
      });
      await eventually(() => out.includes("svc is ready on"), 420_000);
      const stop = async () => {
        gateway.kill("SIGTERM");
        expect((await closed)[0]).toBe(0);
      };
      return stop;
    };
    // The first start translates everything, which on a slow machine takes longer than plugins are waited for.
    await (await start())();
    const stop = await start();
    // A command is a program of its own that has to find its sources, too.
    const document = await text(run("plugins", "list", "--json").stdout);
    const { source, plugins } = JSON.parse(document) as { source: string; plugins: Array<{ id: string; state: string }> };
    expect(source).toBe("gateway");
    // A channel is loaded with its first account, figures with the first scrape, /mcp with the first request.
    const waiting = plugins.filter((p) => p.state === "ready");
    // Active memory is off until it is asked for.
    expect(plugins.filter(({ state }) => state !== "active" && state !== "ready").map(({ id }) => id)).toEqual(["active-memory"]);
    expect(waiting.map(({ id }) => id)).toContain("channel-irc");
    expect(waiting.filter(({ id }) => !id.startsWith("channel-")).map(({ id }) => id)).toEqual([
      "diagnostics-prometheus",
      "mcp-server",
      "plugin-manager",
    ]);
    await stop();
  });
});
