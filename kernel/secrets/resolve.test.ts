import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rootSchema } from "../config/root-schema.ts";
import { malformedRefs, secretSites } from "./ref.ts";
import { resolveSecrets, type SecretsQuestion } from "./resolve.ts";
import { startOwners } from "./start.ts";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "svc-resolve-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const env = (id: string) => ({ source: "env", id });
/** Resolves what stands in a tree, whose `secrets` section holds the providers. */
async function resolve(tree: Record<string, unknown>, own: Partial<SecretsQuestion> = {}) {
  const { secrets } = rootSchema.parse({ secrets: tree.secrets ?? {} });
  return resolveSecrets({ tree, secrets, env: {}, configDir: dir, ...own });
}
const valuesOf = ({ refs }: Awaited<ReturnType<typeof resolve>>) => Object.fromEntries([...refs].map(([path, ref]) => [path, ref.value]));
const provider = (apiKey: unknown) => ({ models: { providers: { acme: { apiKey } } } });
const OWNER = "models.providers.acme";

describe("a reference", () => {
  test("to a variable needs no provider, and says what is missing", async () => {
    const tree = { ...provider(env("KEY")), channels: { irc: { password: env("NONE"), nick: env("EMPTY") } } };
    const { refs, state } = await resolve(tree, { env: { KEY: "the-key", EMPTY: "" } });
    expect(valuesOf({ refs, state })).toEqual({
      "models.providers.acme.apiKey": "the-key",
      "channels.irc.password": undefined,
      "channels.irc.nick": undefined,
    });
    expect(state).toEqual({
      resolved: 1,
      stale: [],
      unavailable: [
        { path: "channels.irc.password", owner: "channels.irc", reason: "variable NONE is not set" },
        { path: "channels.irc.nick", owner: "channels.irc", reason: "variable EMPTY is empty" },
      ],
      changedOwners: [],
    });
  });

  test.each([
    [undefined, "the-key"],
    [["KEY"], "the-key"],
    [["OTHER"], undefined],
    [[], undefined],
  ])("to a variable keeps to the allowlist %j", async (allowlist, value) => {
    const secrets = { providers: { default: { source: "env", ...(allowlist ? { allowlist } : {}) } } };
    expect(valuesOf(await resolve({ ...provider(env("KEY")), secrets }, { env: { KEY: "the-key" } }))).toEqual({
      [`${OWNER}.apiKey`]: value,
    });
  });

  test("without provider means the default one of its source", async () => {
    await writeFile(join(dir, "s.json"), '{"k":"from-file"}', { mode: 0o600 });
    const secrets = { providers: { box: { source: "file", path: "s.json" } }, defaults: { file: "box" } };
    expect(valuesOf(await resolve({ ...provider({ source: "file", id: "/k" }), secrets }))).toEqual({ [`${OWNER}.apiKey`]: "from-file" });
  });

  test.each([
    [{ source: "file", id: "/k" }, {}, "there is no secrets.providers.default"],
    [{ source: "env", provider: "box", id: "K" }, {}, "there is no secrets.providers.box"],
    [{ source: "env", provider: "constructor", id: "K" }, {}, "there is no secrets.providers.constructor"],
    [
      { source: "env", provider: "box", id: "K" },
      { providers: { box: { source: "file", path: "x" } } },
      "secrets.providers.box has the source file, not env",
    ],
  ])("%j is not available: its provider is wrong", async (ref, secrets, reason) => {
    const { state } = await resolve({ ...provider(ref), secrets });
    expect(state.unavailable).toEqual([{ path: `${OWNER}.apiKey`, owner: OWNER, reason }]);
  });

  test("of what is switched off is not asked for at all", async () => {
    const { refs, state } = await resolve({ plugins: { entries: { p: { enabled: false, config: { key: env("NONE") } } } } });
    expect(refs.size).toBe(0);
    expect(state).toEqual({ resolved: 0, stale: [], unavailable: [], changedOwners: [] });
  });
});

describe("a program", () => {
  const command = () => join(dir, "ask");
  const log = () => join(dir, "log");
  const ref = (id: string) => ({ source: "exec", provider: "vault", id });
  const secrets = () => ({ providers: { vault: { source: "exec", command: command(), timeoutMs: 10_000 } } });
  const calls = async () =>
    (await readFile(log(), "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));

  beforeEach(() =>
    writeFile(
      command(),
      `#!${process.execPath}
let input = ""; process.stdin.on("data", (d) => (input += d)).on("end", () => {
  const { ids } = JSON.parse(input);
  require("fs").appendFileSync(${JSON.stringify(log())}, JSON.stringify(ids) + "\\n");
  console.log(JSON.stringify({ protocolVersion: 1, values: Object.fromEntries(ids.map((id) => [id, "value-of-" + id])) }));
});\n`,
      { mode: 0o700 },
    ),
  );
  const tree = () => ({
    gateway: { auth: { token: ref("gw") } },
    models: { providers: { a: { apiKey: ref("one") }, b: { apiKey: ref("one") }, c: { apiKey: ref("two") } } },
    secrets: secrets(),
  });

  test("is run once for all that need it, and each id is asked once", async () => {
    const { state, refs } = await resolve(tree());
    expect(await calls()).toEqual([["gw", "one", "two"]]);
    expect(state.resolved).toBe(4);
    expect(valuesOf({ refs, state })).toMatchObject({ "models.providers.b.apiKey": "value-of-one", "gateway.auth.token": "value-of-gw" });
  });

  test("is not run again for the rest of a start: what it said already counts", async () => {
    const first = await resolve(tree(), { owners: startOwners });
    expect(valuesOf(first)).toMatchObject({ "gateway.auth.token": "value-of-gw", "models.providers.c.apiKey": "value-of-two" });
    const rest = await resolve(tree(), { fresh: first.refs });
    expect(valuesOf(rest)).toEqual(valuesOf(first));
    expect(await calls()).toHaveLength(1);
  });

  test("that no part of the start needs is not run for the start", async () => {
    const { refs, state } = await resolve({ ...tree(), gateway: {} }, { owners: startOwners });
    expect(refs.size).toBe(0);
    expect(state.unavailable).toEqual([]);
    expect(await calls()).toEqual([]);
  });

  test("is not run where programs are not allowed; its references count neither way", async () => {
    const { refs, state } = await resolve({ ...tree(), channels: { irc: { password: env("P") } } }, { exec: false, env: { P: "pass" } });
    expect([...refs.keys()]).toEqual(["channels.irc.password"]);
    expect(state).toMatchObject({ resolved: 1, unavailable: [] });
    expect(await calls()).toEqual([]);
  });
});

describe("at a reload, what cannot be asked", () => {
  const earlier = () => resolve(provider(env("KEY")), { env: { KEY: "old" } });

  test("keeps its previous value while reference and provider are the same, and is stale", async () => {
    const previous = (await earlier()).refs;
    const { refs, state } = await resolve(provider(env("KEY")), { previous });
    expect(valuesOf({ refs, state })).toEqual({ [`${OWNER}.apiKey`]: "old" });
    expect(state).toEqual({
      resolved: 0,
      stale: [{ path: `${OWNER}.apiKey`, owner: OWNER, reason: "variable KEY is not set" }],
      unavailable: [],
      changedOwners: [],
    });
    expect((await resolve(provider(env("KEY")), { previous: refs })).state.stale).toHaveLength(1);
  });

  test("becomes unavailable when the reference changed", async () => {
    const { state } = await resolve(provider(env("OTHER")), { previous: (await earlier()).refs });
    expect(state).toMatchObject({ stale: [], unavailable: [{ owner: OWNER }], changedOwners: [OWNER] });
  });

  test("becomes unavailable when the provider's config changed", async () => {
    const tree = { ...provider(env("KEY")), secrets: { providers: { default: { source: "env", allowlist: ["KEY"] } } } };
    const { state } = await resolve(tree, { previous: (await earlier()).refs });
    expect(state).toMatchObject({ stale: [], unavailable: [{ owner: OWNER }] });
  });

  test("keeps its value also where it moved to in a list", async () => {
    const list = (...ids: string[]) => ({
      agents: { list: ids.map((id) => ({ id, memorySearch: { remote: { apiKey: env(id.toUpperCase()) } } })) },
    });
    const previous = (await resolve(list("a", "b"), { env: { A: "key-a", B: "key-b" } })).refs;
    expect(valuesOf(await resolve(list("b"), { previous }))).toEqual({ "agents.list.0.memorySearch.remote.apiKey": "key-b" });
  });

  test("is unavailable at once when it lets callers in", async () => {
    const tree = { gateway: { auth: { token: env("T") } } };
    const previous = (await resolve(tree, { env: { T: "old-token" } })).refs;
    const { refs, state } = await resolve(tree, { previous });
    expect(valuesOf({ refs, state })).toEqual({ "gateway.auth.token": undefined });
    expect(state).toMatchObject({ stale: [], unavailable: [{ owner: "gateway.auth" }] });
  });

  test("is told by owner when the value is another one; the same value is no change", async () => {
    const previous = (await earlier()).refs;
    expect((await resolve(provider(env("KEY")), { env: { KEY: "new" }, previous })).state.changedOwners).toEqual([OWNER]);
    expect((await resolve(provider(env("KEY")), { env: { KEY: "old" }, previous })).state.changedOwners).toEqual([]);
    expect((await resolve({}, { previous })).state.changedOwners).toEqual([OWNER]);
  });
});

describe("a reference is known by its shape", () => {
  test.each([
    [{ source: "env", id: "A" }, true],
    [{ source: "env", provider: "p", id: "A" }, true],
    [{ source: "file", id: "/a" }, true],
    [{ source: "file", id: "value" }, true],
    [{ source: "exec", id: "a/b" }, true],
    [{ source: "env", id: "lower" }, false],
    [{ source: "env" }, false],
    [{ source: "vault", id: "A" }, false],
    [{ source: "env", id: "A", more: 1 }, false],
    [{ source: "exec", id: "a/../b" }, false],
    [{ source: "file", path: "x" }, false],
  ])("%j: %s", (value, isRef) => {
    expect(secretSites({ plugins: { entries: { p: { config: { x: [value] } } } } }).map(({ path }) => path.join("."))).toEqual(
      isRef ? ["plugins.entries.p.config.x.0"] : [],
    );
  });

  test.each([
    [{ source: "env", provider: "p", id: "lower" }, "id"],
    [{ source: "exec", provider: "p", id: "../up" }, "id"],
    [{ source: "env", provider: "P!", id: "A" }, "provider"],
  ])("%j was meant as one: its %s is wrong", (value, key) => {
    const [found, ...others] = malformedRefs({ a: { b: value } });
    expect(others).toEqual([]);
    expect(found?.path).toEqual(["a", "b", key]);
    expect(found?.message).not.toContain(value.id);
  });
});
