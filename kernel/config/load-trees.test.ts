import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type LoadOptions, loadConfig, loadSecrets } from "./load.ts";
import type { LoadedConfig } from "./loaded.ts";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "svc-trees-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function load(config: string | object, options: Partial<LoadOptions> = {}): Promise<LoadedConfig> {
  const path = join(dir, "svc.json");
  await writeFile(path, typeof config === "string" ? config : JSON.stringify(config), { mode: 0o600 });
  return loadConfig(path, { env: {}, ...options });
}
const ref = (id: string) => ({ source: "env", id });
const token = (value: unknown) => ({ gateway: { auth: { token: value } } });

test("the four trees are kept apart", async () => {
  await writeFile(join(dir, "g.json"), '{ auth: { token: "${TOKEN}" } }');
  const text = '{ gateway: { $include: "./g.json" }, models: { providers: { acme: { apiKey: { source: "env", id: "KEY" } } } } }';
  const loaded = await load(text, { env: { TOKEN: "the-token", KEY: "the-key" } });

  expect(loaded.issues).toEqual([]);
  const apiKey = { source: "env", id: "KEY" };
  expect(loaded.authored).toEqual({ gateway: { $include: "./g.json" }, models: { providers: { acme: { apiKey } } } });
  expect(loaded.source).toEqual({ gateway: { auth: { token: "${TOKEN}" } }, models: { providers: { acme: { apiKey } } } });
  expect(loaded.resolved).toEqual({ gateway: { auth: { token: "the-token" } }, models: { providers: { acme: { apiKey: "the-key" } } } });
  expect(loaded.config).toMatchObject({ gateway: { auth: { token: "the-token", rateLimit: { maxAttempts: 10 } } } });
  expect(Object.isFrozen(loaded.config?.models.providers.acme)).toBe(true);
});

test("reading writes nothing, and no resolved value gets to disk", async () => {
  await load(
    { ...token("${TOKEN}"), models: { providers: { a: { apiKey: ref("KEY") } } } },
    { env: { TOKEN: "the-token", KEY: "the-key" } },
  );
  expect(await readdir(dir)).toEqual(["svc.json"]);
  expect(await readFile(join(dir, "svc.json"), "utf8")).not.toMatch(/the-token|the-key/);
});

describe("a variable without a value", () => {
  test("leaves its key out, and a warning names both; the config is valid", async () => {
    const loaded = await load(
      { models: { providers: { acme: { apiKey: "${KEY}", baseUrl: "https://${HOST}/v1", timeoutSeconds: 5 } } } },
      { env: { HOST: "" } },
    );
    expect(loaded.valid).toBe(true);
    expect(loaded.config?.models.providers.acme).toEqual({ timeoutSeconds: 5 });
    expect(loaded.unresolved).toEqual([
      { path: "models.providers.acme.apiKey", reason: "variable KEY is not set" },
      { path: "models.providers.acme.baseUrl", reason: "variable HOST is empty" },
    ]);
    expect(loaded.warnings).toEqual([
      { path: "models.providers.acme.apiKey", message: "variable KEY is not set; the key is left out" },
      { path: "models.providers.acme.baseUrl", message: "variable HOST is empty; the key is left out" },
    ]);
  });

  test("where a secret is expected makes its owner unavailable, unless that is switched off", async () => {
    const key = { config: { apiKey: "${KEY}" } };
    const config = {
      models: { providers: { acme: { apiKey: "${KEY}", baseUrl: "${HOST}" } } },
      plugins: { entries: { p: key, q: { ...key, enabled: false } } },
    };
    const { secretState } = await load(config);
    const reason = "variable KEY is not set";
    expect(secretState.unavailable).toEqual([
      { path: "models.providers.acme.apiKey", owner: "models.providers.acme", reason },
      { path: "plugins.entries.p.config.apiKey", owner: "plugins.entries.p", reason },
    ]);
  });

  test("that a required key needs is named in the issue", async () => {
    const { issues } = await load('{ agents: { list: [{\n  id: "${AGENT}" }] } }');
    expect(issues).toMatchObject([{ path: "agents.list.0.id", message: "variable AGENT is not set, and this key is required" }]);
  });

  test("is not the author's mistake: a rule about its key is not broken", async () => {
    const loaded = await load({ hooks: { enabled: true, token: "${HOOK}" } });
    expect(loaded.issues).toEqual([]);
    expect(loaded.unresolved).toEqual([{ path: "hooks.token", reason: "variable HOOK is not set" }]);
    expect((await load({ hooks: { enabled: true } })).issues).toMatchObject([{ path: "hooks.token", code: "conflict" }]);
  });
});

describe("env.vars", () => {
  test("are variables like others, below those that are set", async () => {
    const loaded = await load(
      { env: { vars: { A: "from-config", B: "${OUTER}-b", EMPTY: "no" } }, tools: { allow: ["${A}", "${B}"] } },
      { env: { OUTER: "outer", A: "from-process", EMPTY: "" } },
    );
    expect(loaded.config?.tools.allow).toEqual(["from-process", "outer-b"]);
    expect(loaded.env).toMatchObject({ A: "from-process", B: "outer-b", EMPTY: "" });
  });

  test("that decide which code runs are not taken", async () => {
    const loaded = await load({ env: { vars: { NODE_OPTIONS: "--require /x", LD_PRELOAD: "y", FINE: "z" } } });
    expect(loaded.env).toEqual({ FINE: "z" });
    expect(loaded.warnings.map(({ path }) => path)).toEqual(["env.vars.NODE_OPTIONS", "env.vars.LD_PRELOAD"]);
  });
});

describe("env.shellEnv", () => {
  const shell = async () => {
    await writeFile(join(dir, ".profile"), `echo run >> ${dir}/runs; export ACME_API_KEY=from-shell OTHER_TOKEN=from-shell`);
    return { HOME: dir, SHELL: "/bin/sh", PATH: "/usr/bin:/bin" };
  };
  const config = {
    env: { shellEnv: { enabled: true }, vars: { OTHER_TOKEN: "from-config" } },
    models: { providers: { acme: { apiKey: "${ACME_API_KEY}" } } },
  };

  test("gives credentials that nobody else has, and is asked once in a process life", async () => {
    const env = await shell();
    const first = await load(config, { env });
    expect(first.config?.models.providers.acme?.apiKey).toBe("from-shell");
    expect(first.env.OTHER_TOKEN).toBe("from-config");
    const second = await load(config, { env, previous: first });
    expect(second.config?.models.providers.acme?.apiKey).toBe("from-shell");
    expect(await readFile(join(dir, "runs"), "utf8")).toBe("run\n");
  });

  test("is not asked by those who only look", async () => {
    const loaded = await load(config, { env: await shell(), secrets: "none" });
    expect(loaded.unresolved).toMatchObject([{ path: "models.providers.acme.apiKey" }]);
    expect(await readdir(dir)).not.toContain("runs");
  });

  test("that is off asks nobody", async () => {
    await load({ ...config, env: {} }, { env: await shell() });
    expect(await readdir(dir)).not.toContain("runs");
  });

  test("that fails is a warning", async () => {
    const loaded = await load(config, { env: { SHELL: join(dir, "nowhere") } });
    expect(loaded.valid).toBe(true);
    expect(loaded.warnings[0]).toMatchObject({ path: "env.shellEnv", message: expect.stringContaining("ENOENT") });
  });
});

describe("a SecretRef", () => {
  test("that fails leaves its key out and is told, without the rest being harmed", async () => {
    const loaded = await load(
      { models: { providers: { a: { apiKey: ref("NONE") }, b: { apiKey: ref("KEY") } } } },
      { env: { KEY: "the-key" } },
    );
    expect(loaded.valid).toBe(true);
    expect(loaded.config?.models.providers).toEqual({ a: {}, b: { apiKey: "the-key" } });
    expect(loaded.unresolved).toEqual([{ path: "models.providers.a.apiKey", reason: "variable NONE is not set" }]);
    expect(loaded.warnings).toEqual([{ path: "models.providers.a.apiKey", message: "secret not available: variable NONE is not set" }]);
    expect(loaded.secretState).toMatchObject({ resolved: 1, unavailable: [{ owner: "models.providers.a" }] });
  });

  test("stands also in the bodies of plugins and channels", async () => {
    const loaded = await load({ plugins: { entries: { p: { config: { list: [{ key: ref("KEY") }] } } } } }, { env: { KEY: "the-key" } });
    expect(loaded.config?.plugins.entries.p?.config).toEqual({ list: [{ key: "the-key" }] });
  });

  test("where no secret is expected is an issue, and nothing is asked for", async () => {
    const loaded = await load(
      { gateway: { mode: ref("MODE"), auth: { token: ref("TOKEN") } } },
      { env: { MODE: "local", TOKEN: "the-token" } },
    );
    expect(loaded.issues.map(({ path }) => path)).toEqual(["gateway.mode"]);
    expect(loaded.refs.size).toBe(0);
    expect(JSON.stringify(loaded.issues)).not.toContain("the-token");
  });

  test.each([
    ["gateway.auth.token", token({ source: "env", provider: "default", id: "lower" })],
    [
      "plugins.entries.p.config.key",
      { plugins: { entries: { p: { config: { key: { source: "env", provider: "default", id: "lower" } } } } } },
    ],
  ])("with texts that do not fit is an issue at %s", async (path, config) => {
    const { issues } = await load(config);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({ path: expect.stringMatching(new RegExp(`^${path}`)) });
  });

  test("is not asked for by those who only look; it has no value, and nothing is missing", async () => {
    const loaded = await load(token(ref("TOKEN")), { env: { TOKEN: "the-token" }, secrets: "none" });
    expect(loaded.config?.gateway.auth.token).toBeUndefined();
    expect(loaded.unresolved).toEqual([]);
  });
});

describe("a start asks in steps", () => {
  const config = {
    ...token(ref("TOKEN")),
    models: { providers: { a: { apiKey: ref("KEY") } } },
    secrets: { providers: { other: { source: "env" } } },
  };
  const other = { ...config, models: { providers: { a: { apiKey: { ...ref("KEY"), provider: "other" } } } } };
  const env = { TOKEN: "the-token", KEY: "the-key" };

  test("first what decides about callers, then the rest", async () => {
    const first = await load(other, { env, secrets: "start" });
    expect(first.config).toMatchObject({ gateway: { auth: { token: "the-token" } } });
    expect(first.config?.models.providers.a).toEqual({});
    expect(first.unresolved).toEqual([]);
    const rest = await loadSecrets(first, { env, fresh: true });
    expect(rest.config?.models.providers.a).toEqual({ apiKey: "the-key" });
    expect(rest.hash).toBe(first.hash);
  });
});

describe("secrets alone can be asked for anew", () => {
  test("the files are not read again, and what cannot be asked keeps its value", async () => {
    const first = await load(
      { models: { providers: { a: { apiKey: ref("A") }, b: { apiKey: ref("B") } } } },
      { env: { A: "a-1", B: "b-1" } },
    );
    await writeFile(join(dir, "svc.json"), "broken");
    const next = await loadSecrets(first, { env: { A: "a-2" }, previous: first });
    expect(next.config?.models.providers).toEqual({ a: { apiKey: "a-2" }, b: { apiKey: "b-1" } });
    expect(next.secretState).toMatchObject({
      resolved: 1,
      stale: [{ path: "models.providers.b.apiKey" }],
      changedOwners: ["models.providers.a"],
    });
    expect(next.warnings).toEqual([
      { path: "models.providers.b.apiKey", message: "secret kept its previous value: variable B is not set" },
    ]);
    expect(next.unresolved).toEqual([]);
  });
});

describe("what is secret is known", () => {
  test("by path: references, variables and plain values alike", async () => {
    const loaded = await load(
      {
        gateway: { auth: { token: "${TOKEN}" } },
        models: { providers: { a: { apiKey: ref("KEY"), headers: { Authorization: "plain-header" } } } },
        plugins: { entries: { p: { config: { apiKey: "plain-key", odd: ref("ODD"), city: "Bonn" } } } },
      },
      { env: { TOKEN: "the-token", KEY: "the-key", ODD: "odd-value" } },
    );
    expect(Object.fromEntries(loaded.secrets)).toEqual({
      "gateway.auth.token": "the-token",
      "models.providers.a.apiKey": "the-key",
      "models.providers.a.headers.Authorization": "plain-header",
      "plugins.entries.p.config.apiKey": "plain-key",
      "plugins.entries.p.config.odd": "odd-value",
    });
  });

  test("and stands in no issue and no warning, whatever is wrong", async () => {
    const secret = "XK-5550123";
    const env = { S: secret };
    const wrong = [
      token(secret.split("")),
      { gateway: { auth: secret, bind: "nowhere" } },
      { gateway: { auth: { token: "${S}", password: "${S}" } } },
      { hooks: { enabled: true, token: "${S}" }, ...token("${S}") },
      { models: { providers: { a: { apiKey: "${S}", extra: 1 } } } },
      { models: { providers: { a: { apiKey: ref("S"), timeoutSeconds: "x" } } } },
      { models: { providers: { a: { apiKey: { source: "env", provider: secret, id: secret } } } } },
      { agents: { list: [{ memorySearch: { remote: { apiKey: "${S}" } } }] } },
    ];
    for (const config of wrong) {
      const { valid, issues, warnings } = await load(config, { env });
      expect(valid).toBe(false);
      expect(JSON.stringify([issues, warnings])).not.toContain("5550123");
    }
  });
});
