import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { behindModels, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command } from "./_command.ts";
import type { Home, Running } from "./_process.ts";

afterEach(stopAll);

const file = (home: Home) => join(home.stateDir, "svc.json");
const config = (more: object = {}, mode = "hybrid") => ({
  gateway: { mode: "local", auth: { token }, reload: { mode, debounceMs: 10 } },
  plugins: behindModels,
  ...more,
});
const started = async (own: object) => {
  const home = await configured(await freshHome(), own);
  return { home, gateway: await gatewayIn(home) };
};
const said = (gateway: Running, text: string) => eventually(() => gateway.out.stderr.includes(text));
const status = (secret: string, gateway: Running) =>
  fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } }).then((r) => r.status);
const runtime = async (home: Home) =>
  JSON.parse(await readFile(join(home.stateDir, "gateway", "runtime.json"), "utf8")) as {
    pid: number;
    port: number;
    startedAt: number;
  };

describe("SIGHUP", () => {
  test("reads config and secrets again, also where files are not followed", async () => {
    const vault = { source: "file", mode: "json" };
    const auth = { token: { source: "file", provider: "vault", id: "/token" } };
    const home = await configured(await freshHome(), config({}, "off"));
    const secretFile = join(home.stateDir, "vault.json");
    await writeFile(secretFile, JSON.stringify({ token }), { mode: 0o600 });
    const own = { ...config({ secrets: { providers: { vault: { ...vault, path: secretFile } } } }, "off") };
    await writeFile(file(home), JSON.stringify({ ...own, gateway: { ...own.gateway, auth } }));
    const gateway = await gatewayIn(home);
    expect(await status(token, gateway)).toBe(200);

    await writeFile(secretFile, JSON.stringify({ token: "rotated-token-0123" }), { mode: 0o600 });
    gateway.child.kill("SIGHUP");
    await said(gateway, "config reload applied (gateway.auth.token)");

    expect([await status(token, gateway), await status("rotated-token-0123", gateway)]).toEqual([401, 200]);
    expect(gateway.out.stderr).not.toContain("rotated-token-0123");
  });

  test("with a broken file keeps what runs, and status says since when", async () => {
    const { home, gateway } = await started(config());
    await writeFile(file(home), '{ "gateway": { "mode": "local", "bogus": 1 } }');
    gateway.child.kill("SIGHUP");
    await said(gateway, "config reload skipped (invalid config): gateway");

    expect(await status(token, gateway)).toBe(200);
    const shown = await command(home, ["gateway", "status", "--token", token, "--port", String(gateway.port)]);
    expect(shown.stdout).toMatch(/^Config reload: invalid since .+bogus/m);
  });
});

describe("a change that needs a restart", () => {
  test("restarts the gateway in this process, with the new config", async () => {
    const { home, gateway } = await started(config());
    const before = await runtime(home);
    await writeFile(file(home), JSON.stringify(config({ plugins: { ...behindModels, deny: ["model-recall"] } })));
    await said(gateway, "config change requires gateway restart (plugins.deny)");

    const after = await eventually(async () => {
      const now = await runtime(home);
      return now.startedAt > before.startedAt && now;
    }, 30_000);
    expect(after.pid).toBe(before.pid);
    const { stdout } = await command(home, ["gateway", "call", "plugins.list", "--json", "--token", token, "--port", String(after.port)]);
    expect(JSON.parse(stdout)).toMatchObject({
      plugins: expect.arrayContaining([
        expect.objectContaining({ id: "model-recall", state: "error", error: expect.stringContaining("deny") }),
      ]),
    });
    expect(gateway.child.exitCode).toBeNull();
  });

  test("ends with 75 under a supervisor", async () => {
    const home = await configured(await freshHome(), config());
    const { child } = await gatewayIn(home, [], { SVC_SERVICE_MARKER: "test" });
    const closed = once(child, "close");
    await writeFile(file(home), JSON.stringify(config({ plugins: { ...behindModels, deny: ["model-recall"] } })));
    expect(await closed).toEqual([75, null]);
  });
});

test("the log level follows the config while the gateway runs", async () => {
  const { home, gateway } = await started(config({ logging: { level: "warn", consoleLevel: "warn" } }));
  await writeFile(file(home), JSON.stringify(config({ logging: { level: "info", consoleLevel: "info" } })));
  await said(gateway, "config reload applied (logging.consoleLevel, logging.level)");
  expect(gateway.out.stderr).not.toContain("ready");
});
