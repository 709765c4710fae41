import { chmod, mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freshHome, json, stopAll } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import type { Home } from "./_process.ts";

afterEach(stopAll);

async function setUp(): Promise<Home> {
  const home = await freshHome();
  await command(home, ["setup"]);
  return home;
}

const file = (home: Home, name = "svc.json") => join(home.stateDir, name);
const ids = (value: Record<string, unknown>) =>
  (value.findings as Array<{ id: string; severity: string }>).filter((f) => f.severity !== "info").map((f) => f.id);

test("a fresh installation has nothing to mend, and looking writes nothing", async () => {
  const home = await setUp();
  const before = await readdir(home.stateDir);
  const { code, value } = await json(home, ["doctor"]);
  expect({ code, ids: ids(value) }).toEqual({ code: 0, ids: [] });
  expect((await command(home, ["doctor", "--severity-min", "info"])).code).toBe(
    ids(value).length < (value.findings as unknown[]).length ? 1 : 0,
  );
  expect(await readdir(home.stateDir)).toEqual(before);
});

test("files that others can read are found and closed", async () => {
  const home = await setUp();
  await chmod(file(home), 0o644);
  await chmod(home.stateDir, 0o755);
  const found = await command(home, ["doctor"]);
  expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/config\/perms[\s\S]*state\/perms/) });
  const { code, value } = await commandJson(home, ["doctor", "--fix"]);
  expect({ code, ids: ids(value) }).toEqual({ code: 0, ids: [] });
  expect(value.fixes).toMatchObject([
    { id: "config/perms", done: true },
    { id: "state/perms", done: true },
  ]);
  expect((await stat(file(home))).mode & 0o777).toBe(0o600);
  expect((await stat(home.stateDir)).mode & 0o777).toBe(0o700);
});

test("a missing token and then a missing mode are written in one run, comments kept", async () => {
  const home = await setUp();
  await writeFile(file(home), "// mine\n{ gateway: { auth: {} } }\n", { mode: 0o600 });
  expect(ids((await commandJson(home, ["doctor"])).value)).toEqual(["config/mode-missing", "auth/missing"]);
  const { value } = await commandJson(home, ["doctor", "--fix"]);
  expect(value.fixes).toMatchObject([
    { id: "auth/missing", done: true },
    { id: "config/mode-missing", done: true },
  ]);
  expect(await readFile(file(home), "utf8")).toMatch(/^\/\/ mine\n\{ gateway: \{ auth: \{ token: "[\w-]{43}" \}, mode: "local" \} \}\n$/);
  expect((await command(home, ["config", "validate"])).code).toBe(0);
});

test("what only shows once the config loads again is mended in the same run", async () => {
  const home = await setUp();
  // As a restore of a backup without secrets leaves it.
  await writeFile(file(home), '{ "gateway": { "mode": "local", "auth": {} }, "hooks": { "enabled": true } }\n', { mode: 0o600 });
  const { code, value } = await commandJson(home, ["doctor", "--fix"]);
  expect(value.fixes).toMatchObject([
    { id: "auth/hook-token-reuse", done: true },
    { id: "auth/missing", done: true },
  ]);
  expect({ code, ids: ids(value) }).toEqual({ code: 0, ids: [] });
});

test("a broken config is explained with its place, and comes back only when that is asked for", async () => {
  const home = await setUp();
  const good = await readFile(file(home), "utf8");
  const gateway = await gatewayHere(home);
  await gateway.stop();
  expect(await readFile(file(home, "svc.json.last-good"), "utf8")).toBe(good);
  const broken = `{\n  gateway: { mode: "local", prt: 1, auth: { token: "sensitive-token-1" } }\n}`;
  await writeFile(file(home), broken, { mode: 0o600 });

  const told = await command(home, ["doctor", "--fix"]);
  expect(told).toMatchObject({ code: 1, stdout: expect.stringContaining('svc.json:2:29  gateway.prt: unknown key "prt"') });
  expect(told.stdout + told.stderr).not.toContain("sensitive-token-1");
  expect(await readFile(file(home), "utf8")).toBe(broken);

  const { code, value } = await commandJson(home, ["doctor", "--fix", "--restore-last-good"]);
  expect({ code, fixes: value.fixes }).toMatchObject({ code: 0, fixes: [{ id: "config/restore", done: true }] });
  expect(await readFile(file(home), "utf8")).toBe(good);
  const rejected = (await readdir(home.stateDir)).filter((name) => name.startsWith("svc.json.rejected."));
  expect(await readFile(file(home, rejected[0]), "utf8")).toBe(broken);
});

test("independent faults are fixed independently, in one write of the config, and each change is told", async () => {
  const home = await setUp();
  const broken = {
    gateway: { mode: "local", auth: { token: "one-token-for-two-purposes" }, bind: "lan", controlUi: { allowedOrigins: [] } },
    hooks: { enabled: true, token: "one-token-for-two-purposes" },
    plugins: { entries: { gone: { config: { mine: 1 } } } },
  };
  await writeFile(file(home), `// mine\n${JSON.stringify(broken)}\n`, { mode: 0o600 });
  await mkdir(file(home, ".restore-999999999-1"));
  const env = { SVC_GATEWAY_PORT: "18700" };
  const first = await commandJson(home, ["doctor", "--fix"], env);
  const second = await commandJson(home, ["doctor", "--fix"], env);
  const fixes = [first, second].flatMap(({ value }) => value.fixes as Array<{ id: string; done: boolean; message: string }>);
  expect(fixes.filter(({ done }) => !done)).toEqual([]);
  expect(fixes.map(({ id }) => id).sort()).toEqual(["auth/hook-token-reuse", "controlui/origins", "plugins/missing", "state/leftovers"]);
  expect({ code: second.code, ids: ids(second.value) }).toEqual({ code: 0, ids: [] });

  const text = await readFile(file(home), "utf8");
  expect(text).toMatch(/^\/\/ mine\n/);
  const now = JSON.parse(text.replace("// mine\n", "")) as typeof broken;
  expect(now.gateway.auth.token).toBe("one-token-for-two-purposes");
  expect(now.hooks.token).toMatch(/^[\w-]{43}$/);
  expect(now.gateway.controlUi.allowedOrigins).toEqual(["http://localhost:18700", "http://127.0.0.1:18700"]);
  expect(now.plugins.entries.gone).toEqual({ config: { mine: 1 }, enabled: false });
  expect(fixes.map(({ message }) => message).join()).not.toContain(now.hooks.token);
  expect((await readdir(home.stateDir)).filter((name) => name.startsWith(".restore"))).toEqual([]);
});

test("logs beyond their limit lose the oldest files", async () => {
  const home = await setUp();
  await mkdir(file(home, "logs"), { recursive: true });
  for (const [name, at] of [
    ["gateway-2020-01-01.jsonl", 1_000],
    ["gateway-2020-01-02.jsonl", 2_000],
  ] as const) {
    await writeFile(file(home, `logs/${name}`), "");
    await truncate(file(home, `logs/${name}`), 300_000_000); // sparse
    await utimes(file(home, `logs/${name}`), at, at);
  }
  expect(ids((await commandJson(home, ["doctor", "--only", "logs/size"])).value)).toEqual(["logs/size"]);
  const { code, value } = await commandJson(home, ["doctor", "--fix", "--only", "logs/size"]);
  expect({ code, fixes: value.fixes }).toMatchObject({ code: 0, fixes: [{ done: true, message: "deleted 1 files, 300 MB" }] });
  expect(await readdir(file(home, "logs"))).toEqual(["gateway-2020-01-02.jsonl"]);
});

test("checks can be chosen and left out", async () => {
  const home = await setUp();
  await chmod(file(home), 0o644);
  await chmod(home.stateDir, 0o755);
  expect(ids((await commandJson(home, ["doctor", "--only", "config/perms"])).value)).toEqual(["config/perms"]);
  expect(ids((await commandJson(home, ["doctor", "--skip", "config/perms"])).value)).toEqual(["state/perms"]);
});

test("the plugins of a running gateway are asked too", async () => {
  const home = await setUp();
  await gatewayHere(home);
  const { code, value } = await commandJson(home, ["doctor"]);
  expect({ code, ids: ids(value) }).toEqual({ code: 0, ids: [] });
});
