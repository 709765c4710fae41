import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connected } from "./_ws.ts";

interface Snapshot {
  raw: string;
  parsed: Record<string, unknown>;
  config: { gateway: { auth: Record<string, unknown> }; logging: { level: string } };
  hash: string;
  valid: boolean;
  issues: Array<{ path: string; message: string }>;
}
interface Written {
  ok: true;
  path: string;
  hash: string;
  changedPaths: string[];
  action: string;
  pendingRestart: string[];
  noop?: true;
  config: Snapshot["config"];
}

let gateway: TestGateway;
let file: string;
beforeEach(async () => {
  gateway = await createTestGateway({ plugins: [] });
  file = join(gateway.stateDir, "svc.json");
});
afterEach(() => gateway.close());

const get = () => gateway.rpc<Snapshot>("config.get");
const patch = async (value: unknown, more: object = {}) =>
  gateway.rpc<Written>("config.patch", { raw: JSON.stringify(value), baseHash: (await get()).hash, ...more });
const text = () => readFile(file, "utf8");

test("config.get shows the file and what it means, and no secret", async () => {
  await writeFile(
    file,
    `// mine\n{ gateway: { mode: "local", auth: { token: "${gateway.token}" } }, env: { vars: { MY_TOKEN: "tok-in-env" } } }`,
  );
  const shown = await get();
  expect(shown).toMatchObject({ path: file, exists: true, valid: true, issues: [], warnings: [], pendingRestart: [] });
  expect(shown.raw).toContain("// mine");
  expect(shown.raw).toContain('token: "__SVC_REDACTED__"');
  expect(shown.config.logging.level).toBe("info");
  expect(JSON.stringify(shown)).not.toMatch(new RegExp(`${gateway.token}|tok-in-env`));
});

test("config.get tells what is wrong with a file that became invalid, while the old config runs on", async () => {
  await writeFile(file, '{ gateway: { mode: "local", auth: { token: "other-token-1234" } }, loging: {} }');
  const shown = await get();
  expect(shown).toMatchObject({ valid: false, issues: [{ path: "loging" }] });
  expect(JSON.stringify(shown)).not.toContain("other-token-1234");
});

describe("config.patch", () => {
  test("changes the one place in the file, keeps every other byte and applies it at once", async () => {
    await writeFile(file, (await text()).replace("{", "{ // keep me\n"));
    const before = await text();
    const done = await patch({ logging: { level: "warn" } }, { note: "quieter" });
    expect(done).toMatchObject({ ok: true, path: file, changedPaths: ["logging.level"], action: "hot", pendingRestart: [] });
    expect(done.config.logging.level).toBe("warn");
    expect((await text()).startsWith(before.slice(0, -1).trimEnd())).toBe(true);
    expect(done.hash).toBe((await get()).hash);
    expect((await get()).config.logging.level).toBe("warn");
  });

  test("deletes with null, and keeps members of lists that it does not name", async () => {
    await patch({ agents: { list: [{ id: "a", name: "A" }, { id: "b" }] } });
    await patch({ agents: { list: [{ id: "b", name: "B" }, { id: "c" }] }, logging: { level: "warn" } });
    const done = await patch({ logging: null });
    expect(done.changedPaths).toEqual(["logging.level"]);
    expect((await get()).parsed.agents).toEqual({ list: [{ id: "a", name: "A" }, { id: "b", name: "B" }, { id: "c" }] });
  });

  test("takes members out of a list only where the list is named in replacePaths", async () => {
    await patch({ tools: { deny: ["a", "b"] }, agents: { list: [{ id: "a" }, { id: "b" }] } });
    await expect(patch({ tools: { deny: ["a"] } })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^tools\.deny: entries would be lost/),
      details: { code: "DESTRUCTIVE", path: "tools.deny" },
    });
    await patch({ tools: { deny: ["a"] }, agents: { list: [{ id: "b" }] } }, { replacePaths: ["tools.deny", "agents.list"] });
    expect((await get()).parsed).toMatchObject({ tools: { deny: ["a"] }, agents: { list: [{ id: "b" }] } });
  });

  test("that changes nothing says so and touches nothing", async () => {
    const before = await text();
    expect(await patch({ gateway: { mode: "local" } })).toMatchObject({ action: "none", noop: true, changedPaths: [] });
    expect(await text()).toBe(before);
    expect(await readdir(gateway.stateDir)).not.toContain("svc.json.bak");
  });

  test("that needs a restart names the paths", async () => {
    const done = await patch({ gateway: { port: 18_790, reload: { mode: "hot" } } });
    expect(done).toMatchObject({ action: "restart", pendingRestart: ["gateway.port"] });
    expect(await get()).toMatchObject({ pendingRestart: ["gateway.port"] });
  });

  test.each([
    ["a text that is no JSON5", "{ a: ", /^raw:1:\d+ /],
    ["a list", "[]", /^invalid config: a merge patch is an object/],
    ["a forbidden key", '{ "__proto__": { "polluted": 1 } }', /the key __proto__ is not allowed/],
    ["nesting without end", `${"[".repeat(5_000)}${"]".repeat(5_000)}`, /nested deeper/],
  ])("refuses %s", async (_, raw, message) => {
    const { hash } = await get();
    await expect(gateway.rpc("config.patch", { raw, baseHash: hash })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(message),
    });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("config.set and config.apply", () => {
  test("take back what config.get gave, placeholders included", async () => {
    const { raw, hash } = await get();
    expect(raw).toContain("__SVC_REDACTED__");
    expect(await gateway.rpc("config.set", { raw, baseHash: hash })).toMatchObject({ action: "none", noop: true });
    const applied = await gateway.rpc<Written>("config.apply", {
      raw: raw.replace("{", '{ "logging": { "level": "warn" },'),
      baseHash: hash,
    });
    expect(applied).toMatchObject({ action: "hot", changedPaths: ["logging.level"] });
    expect(await text()).toContain(gateway.token);
    expect(await text()).not.toContain("__SVC_REDACTED__");
  });

  test("config.set only writes", async () => {
    const { raw, hash } = await get();
    const done = await gateway.rpc<Written>("config.set", { raw: raw.replace("{", '{ "logging": { "level": "warn" },'), baseHash: hash });
    expect(done.action).toBe("persisted");
  });

  test("refuse a placeholder where nothing is stored, naming the path", async () => {
    const { raw, hash } = await get();
    const moved = raw.replace('"token"', '"password"');
    await expect(gateway.rpc("config.set", { raw: moved, baseHash: hash })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^gateway\.auth\.password: /),
      details: { path: "gateway.auth.password" },
    });
  });

  test("refuse what would not start, keep it as rejected, and leave the file alone", async () => {
    const before = await text();
    const { raw, hash } = await get();
    const bad = raw.replace('"mode":"local"', '"mode":"local","port":"x"');
    await expect(gateway.rpc("config.apply", { raw: bad, baseHash: hash })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^invalid config: gateway\.port: /),
      details: { issues: [{ path: "gateway.port", message: expect.any(String) }] },
    });
    expect(await text()).toBe(before);
    expect((await readdir(gateway.stateDir)).filter((name) => name.startsWith("svc.json.rejected."))).toHaveLength(1);
  });

  test("refuse what would leave the gateway without its secret", async () => {
    await expect(patch({ gateway: { auth: { token: `\${NOBODY_HAS_SET_THIS}` } } })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^invalid config: gateway\.auth\.token: .*NOBODY_HAS_SET_THIS/),
    });
    expect(await text()).toContain(gateway.token);
  });

  test("refuse to drop gateway.mode", async () => {
    const { raw, hash } = await get();
    await expect(gateway.rpc("config.apply", { raw: raw.replace('"mode":"local",', ""), baseHash: hash })).rejects.toMatchObject({
      message: expect.stringMatching(/gateway\.mode would be dropped/),
    });
  });
});

describe("of several writers", () => {
  test("one without a hash is sent back", async () => {
    await expect(gateway.rpc("config.patch", { raw: "{}" })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: "config base hash required; re-run config.get and retry with baseHash",
    });
  });

  test("with the same hash one wins and the others learn the new one", async () => {
    const { hash } = await get();
    const settled = await Promise.allSettled(
      ["debug", "warn", "error"].map((level) =>
        gateway.rpc<Written>("config.patch", { raw: JSON.stringify({ logging: { level } }), baseHash: hash }),
      ),
    );
    const won = settled.flatMap((s) => (s.status === "fulfilled" ? [s.value] : []));
    const lost = settled.flatMap((s) => (s.status === "rejected" ? [s.reason] : []));
    expect(won).toHaveLength(1);
    expect(lost).toHaveLength(2);
    for (const error of lost) {
      expect(error).toMatchObject({
        code: "INVALID_REQUEST",
        message: "config changed since last load; re-run config.get and retry",
        details: { code: "CONFLICT", currentHash: won[0]?.hash },
      });
    }
  });

  test("everybody who may read hears of each write once", async () => {
    const socket = await connected(gateway);
    const done = await patch({ logging: { level: "warn" } });
    const event = await socket.frame((f) => f.event === "config.changed");
    expect(event.payload).toEqual({ path: file, hash: done.hash, ts: expect.any(Number) });
    await patch({ logging: { level: "warn" } });
    await socket.request("x", "health");
    expect(socket.frames.filter((f) => f.event === "config.changed")).toHaveLength(1);
    await socket.close();
  });
});

test("the 31st write of a minute is refused with the time to wait, and a write of another kind is not", async () => {
  const { hash } = await get();
  const call = () => gateway.rpc("config.patch", { raw: "{}", baseHash: hash });
  for (let i = 0; i < 30; i++) expect(await call()).toMatchObject({ noop: true });
  await expect(call()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/^rate limit exceeded for config\.patch; retry after \d+s$/),
    retryable: true,
    retryAfterMs: expect.any(Number),
    details: { code: "RATE_LIMITED", method: "config.patch", limit: "30 per 60s" },
  });
  expect(await gateway.rpc("config.set", { raw: (await get()).raw, baseHash: hash })).toMatchObject({ noop: true });
});

test("a reader may look but not write", async () => {
  const reader = await connected(gateway, { scopes: ["operator.read"] });
  for (const method of ["config.set", "config.apply", "config.patch"]) {
    expect((await reader.request(method, method, { raw: "{}" })).error).toMatchObject({
      code: "FORBIDDEN",
      details: { code: "MISSING_SCOPE" },
    });
  }
  expect(await reader.request("g", "config.get")).toMatchObject({ ok: true });
  await reader.close();
});

test("config.schema has the whole tree, and config.schema.lookup one node of it", async () => {
  const { schema, uiHints, version } = await gateway.rpc<{
    schema: { properties: object };
    uiHints: Record<string, object>;
    version: string;
  }>("config.schema");
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(["gateway", "agents", "channels", "plugins"]));
  expect(uiHints["gateway.auth.token"]).toMatchObject({ sensitive: true });
  expect(version).toBe("0.0.0-test");
  expect(await gateway.rpc("config.schema.lookup", { path: "gateway.port" })).toMatchObject({
    path: "gateway.port",
    reloadKind: "restart",
    children: [],
  });
  await expect(gateway.rpc("config.schema.lookup", { path: "gateway.nope" })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: "config schema path not found",
  });
});

test("SVC_CONFIG_READONLY refuses every write and no read", async () => {
  const fixed = await createTestGateway({ plugins: [], env: { SVC_CONFIG_READONLY: "1" } });
  try {
    const { hash } = await fixed.rpc<Snapshot>("config.get");
    await expect(fixed.rpc("config.patch", { raw: "{ logging: {} }", baseHash: hash })).rejects.toThrow("SVC_CONFIG_READONLY=1 forbids");
  } finally {
    await fixed.close();
  }
});

test("a plugin's config@1 changes the file the same way", async () => {
  const done = await gateway.service("config@1").patch({ logging: { level: "warn" } }, { note: "test" });
  expect(done).toMatchObject({ ok: true, action: "hot", changedPaths: ["logging.level"] });
  await expect(gateway.service("config@1").patch({}, { note: "test", baseHash: "old" })).rejects.toMatchObject({ code: "config-conflict" });
});

test("config@1 is open only to plugins with the permission rpc.admin", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-plugin-"));
  const manifest = (permissions: string[]) =>
    JSON.stringify({ id: "writer", version: "1.0.0", svc: { api: "^1.0.0" }, entry: "./index.mjs", permissions });
  await writeFile(
    join(folder, "index.mjs"),
    `export default { id: "writer", version: "1.0.0", svc: { api: "^1.0.0" }, setup: async (ctx) => {
      await ctx.service("config@1").patch({ logging: { level: "warn" } }, { note: "by a plugin" });
    } };`,
  );
  const stateOf = async (permissions: string[], grants: string[]) => {
    await writeFile(join(folder, "svc.plugin.json"), manifest(permissions));
    const own = await createTestGateway({ plugins: [folder], config: { plugins: { entries: { writer: { enabled: true, grants } } } } });
    try {
      const record = own.gateway.plugins().find(({ id }) => id === "writer");
      return { state: record?.state, reason: record?.reason ?? "", file: await readFile(join(own.stateDir, "svc.json"), "utf8") };
    } finally {
      await own.close();
    }
  };
  try {
    expect(await stateOf([], [])).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("service config@1 needs the permission rpc.admin"),
    });
    expect(await stateOf(["rpc.admin"], [])).toMatchObject({ state: "failed" });
    expect(await stateOf(["rpc.admin"], ["rpc.admin"])).toMatchObject({ state: "active", file: expect.stringContaining('"level":"warn"') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
