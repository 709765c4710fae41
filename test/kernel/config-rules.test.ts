import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../kernel/config/load.ts";
import { formatIssue } from "../../sdk/config/config-issue.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-rules-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

type Env = Record<string, string>;

/** Config of these files; the first one is the main file. */
async function load(files: Record<string, string>, env: Env = {}) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text, { mode: 0o600 });
  return loadConfig(join(dir, Object.keys(files)[0] as string), { env });
}

describe("everything wrong is told at once", () => {
  test("keys, values and rules between keys, in the order of the file", async () => {
    const { issues } = await load({
      "svc.json":
        '{\n  gateway: { bind: "custom" },\n  logging: { level: "loud" },\n  sesion: {},\n  session: { maintenance: { maxDiskBytes: "1gb", highWaterBytes: "2gb" } },\n}',
    });
    expect(issues.map(({ line, path, code }) => [line, path, code])).toEqual([
      [2, "gateway.bind", "conflict"],
      [3, "logging.level", "invalid_value"],
      [4, "sesion", "unknown_key"],
      [5, "session.maintenance.highWaterBytes", "conflict"],
    ]);
  });

  test("what stands in an included file with its name and place, after the main file", async () => {
    const { issues } = await load({
      "svc.json": '{\n  hooks: { $include: "./hooks.json5" },\n  gateway: { prot: 1 },\n}',
      "hooks.json5": '// ingress\n{\n  enabled: true,\n  path: "/",\n  tokn: "x",\n}',
    });
    expect(issues.map(formatIssue)).toEqual([
      'svc.json:3:14  gateway.prot: unknown key "prot"\n  hint: did you mean "port"?',
      'hooks.json5:5:3  hooks.tokn: unknown key "tokn"\n  hint: did you mean "token"?',
    ]);
    const { issues: rules } = await load({
      "svc.json": '{ hooks: { $include: "./hooks.json5" } }',
      "hooks.json5": '{\n  path: "/",\n}',
    });
    expect(rules).toMatchObject([{ path: "hooks.path", code: "conflict", file: "hooks.json5", line: 2, column: 9 }]);
  });
});

describe("the hook token is not the gateway's", () => {
  const hooks = { enabled: true, token: `\${HOOK_TOKEN}` };
  const gateway = { auth: { token: { source: "env", id: "GATE" } } };

  test.each([
    ["in the environment", { hooks }, { HOOK_TOKEN: "same", SVC_GATEWAY_TOKEN: "same" }],
    ["behind a reference", { hooks, gateway }, { HOOK_TOKEN: "same", GATE: "same" }],
  ])("also when that one stands %s", async (_, config, env) => {
    const { issues } = await load({ "svc.json": JSON.stringify(config) }, env);
    expect(issues).toMatchObject([{ path: "hooks.token", code: "conflict" }]);
    expect(JSON.stringify(issues)).not.toContain("same");
    expect((await load({ "svc.json": JSON.stringify(config) }, { ...env, HOOK_TOKEN: "another" })).issues).toEqual([]);
  });
});

test("settings that deserve a second look are warnings", async () => {
  const { valid, warnings } = await load({ "svc.json": '{ hooks: { enabled: true, token: "short" } }' });
  expect(valid).toBe(true);
  expect(warnings.map((warning) => warning.path)).toEqual(["hooks.token"]);
});

test("warnings are told at the start, and stop nothing", async () => {
  const config = {
    plugins: { deny: ["memory-cor"], entries: { gone: { enabled: true } }, slots: { memory: "gone" } },
    agents: { defaults: { memorySearch: { query: { minScore: 35 } } } },
  };
  const gateway = await createTestGateway({ plugins: ["memory-core", "store"], config });
  onTestFinished(() => gateway.close());

  const told = gateway.logs.filter(({ level }) => level === "warn").map(({ message }) => message);
  expect(told.filter((message) => message.startsWith("config: "))).toEqual([
    'config: plugins.entries.gone: plugin "gone" is not installed',
    'config: plugins.deny.0: plugin "memory-cor" is not installed; did you mean "memory-core"?',
    'config: plugins.slots.memory: no plugin "gone" fills this slot; memory search is off',
    "config: agents.defaults.memorySearch.query.minScore: 35 is out of range; a gateway uses 1",
  ]);
});

describe("a section of channels that no plugin claims", () => {
  test("refuses a start, with the nearest one that is claimed", async () => {
    const lines = { id: "lines", version: "1.0.0", svc: { api: "^1.0.0" } };
    const folder = join(dir, "lines");
    await mkdir(folder, { mode: 0o755 });
    await writeFile(join(folder, "svc.plugin.json"), JSON.stringify({ ...lines, contributes: { channels: ["lines"] } }));
    await writeFile(join(folder, "index.ts"), "export default {};");
    const config = (id: string) => ({
      plugins: { load: { paths: [folder] }, entries: { lines: { enabled: false } } },
      channels: { [id]: {} },
    });

    const refused = createTestGateway({ plugins: [], config: config("linse") });
    await expect(refused).rejects.toMatchObject({
      code: "invalid-config",
      message: expect.stringMatching(/svc\.json:1:\d+ {2}channels\.linse: unknown channel "linse"\n {2}hint: did you mean "lines"\?/),
    });

    const gateway = await createTestGateway({ plugins: [], config: config("lines") });
    onTestFinished(() => gateway.close());
    expect((await gateway.rpc("health")).ok).toBe(true);
  });

  test("is skipped by a reload", async () => {
    const gateway = await createTestGateway({ plugins: [], config: {} });
    onTestFinished(() => gateway.close());
    const file = join(gateway.stateDir, "svc.json");
    const written = JSON.parse(await readFile(file, "utf8")) as object;
    await writeFile(file, JSON.stringify({ ...written, channels: { pigeon: {} }, tools: { profile: "minimal" } }));

    expect(await gateway.gateway.reload("rpc")).toMatchObject({
      status: "invalid",
      issues: [{ path: "channels.pigeon", message: expect.stringContaining('unknown channel "pigeon"') }],
    });
  });
});
