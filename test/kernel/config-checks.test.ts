import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openConfigFile } from "../../kernel/cli/config-file.ts";

let gateway: Awaited<ReturnType<typeof createTestGateway>>;
beforeEach(async () => {
  gateway = await createTestGateway({ plugins: [] });
});
afterEach(() => gateway.close());

const search = (memorySearch: object) => ({ agents: { defaults: { memorySearch } } });
const transform = (module: string, more: object = {}) => ({
  hooks: { ...more, mappings: [{ match: { path: "x" }, action: "agent", messageTemplate: "m", transform: { module } }] },
});
const lab = { models: { providers: { lab: { baseUrl: "http://127.0.0.1:9", models: [{ id: "one" }] } } } };

/** A command's view of the file of this gateway. */
const commandFile = () =>
  openConfigFile(
    { paths: { configPath: join(gateway.stateDir, "svc.json"), stateDir: gateway.stateDir } as never, env: {} },
    { manifests: async () => [], onWrite: () => undefined },
  );

describe("what a gateway would run with and nobody can mean", () => {
  test.each<[string, object, string]>([
    ["a weight out of its range", search({ query: { hybrid: { vectorWeight: 7 } } }), "query.hybrid.vectorWeight: 7 is out of range"],
    ["a source that is none", search({ sources: ["memory", "mail"] }), 'sources: "mail" is not known'],
    ["a model of nobody", { agents: { defaults: { model: { primary: "nope/foo" } } } }, 'primary: no model provider "nope" is known'],
    [
      "a model that its provider does not list",
      { ...lab, agents: { defaults: { model: "lab/two" } } },
      'does not list "two"; expected one of one',
    ],
    [
      "an idle reset after no time at all",
      { session: { reset: { mode: "idle" } } },
      "session.reset.mode: idle without idleMinutes never resets",
    ],
    [
      "the same for one type of chat",
      { session: { reset: { mode: "none" }, resetByType: { group: { mode: "idle" } } } },
      "session.resetByType.group.mode: idle without idleMinutes never resets",
    ],
    ["a folder of transforms elsewhere", { hooks: { transformsDir: "/etc" } }, "hooks.transformsDir: expected a folder within"],
    ["a transform that leads out of the folder", transform("../../secret.ts"), "transform.module: expected a file within"],
    ["a transform that is not there", transform("missing.ts"), "transform.module: there is no such file"],
  ])("%s is refused by a write and its trial alike, and reported in a file", async (_, value, problem) => {
    const file = join(gateway.stateDir, "svc.json");
    const before = await readFile(file, "utf8");
    const { hash } = await gateway.rpc<{ hash: string }>("config.get");
    await expect(gateway.rpc("config.patch", { raw: JSON.stringify(value), baseHash: hash })).rejects.toThrow(problem);

    const merged = { ...JSON.parse(before), ...value };
    const trial = (await commandFile()).write({ kind: "edit", apply: () => merged }, { dryRun: true });
    await expect(trial).rejects.toThrow(problem);
    expect(await readFile(file, "utf8")).toBe(before);

    await writeFile(file, JSON.stringify(merged));
    const { issues } = await (await commandFile()).settings();
    expect(issues.map(({ path, message }) => `${path}: ${message}`)).toEqual([expect.stringContaining(problem)]);
  });

  test("what the file holds already stands in nobody's way", async () => {
    const file = join(gateway.stateDir, "svc.json");
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), ...search({ query: { minScore: 35 } }) }));
    const { hash } = await gateway.rpc<{ hash: string }>("config.get");
    const raw = JSON.stringify({ logging: { level: "debug" } });
    expect(await gateway.rpc("config.patch", { raw, baseHash: hash })).toMatchObject({ ok: true });
  });

  test.each([
    { reset: { mode: "idle", idleMinutes: 60 } },
    { reset: { mode: "idle", idleMinutes: 60 }, resetByType: { group: { mode: "idle" } }, resetByChannel: { irc: { mode: "idle" } } },
    { reset: { mode: "none" }, resetByType: { direct: { mode: "idle", idleMinutes: 5 } } },
    { reset: { mode: "daily" }, resetByType: { direct: { mode: "none" } } },
  ])("an idle reset whose minutes are in force is taken: %j", async (session) => {
    const { hash } = await gateway.rpc<{ hash: string }>("config.get");
    expect(await gateway.rpc("config.patch", { raw: JSON.stringify({ session }), baseHash: hash })).toMatchObject({ ok: true });
  });

  test("a transform and a model that are there are taken", async () => {
    const folder = join(gateway.stateDir, "hooks", "transforms");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "x.ts"), "export default () => null;");
    // One that no mapping uses is nobody's business.
    await symlink("/etc", join(folder, "stray"));
    const { hash } = await gateway.rpc<{ hash: string }>("config.get");
    const value = { ...transform("x.ts"), ...lab, agents: { defaults: { model: { primary: "lab/one", fallbacks: ["bare"] } } } };
    expect(await gateway.rpc("config.patch", { raw: JSON.stringify(value), baseHash: hash })).toMatchObject({ ok: true });
  });
});

test("what deserves a word is said by the write itself, once", async () => {
  const warningsOf = async (value: object) => {
    const file = await commandFile();
    const apply = (source: unknown) => ({ ...(source as object), ...value });
    return (await file.write({ kind: "edit", apply }, { dryRun: true })).warnings;
  };
  const gone = join(gateway.stateDir, "not-there");
  expect(await warningsOf(search({ extraPaths: [gone] }))).toEqual([
    `agents.defaults.memorySearch.extraPaths.0: there is nothing at ${gone}`,
  ]);
  const weak = { gateway: { mode: "local", auth: { token: "short" } } };
  expect(await warningsOf(weak)).toEqual(["gateway.auth.token: has 5 characters; 16 or more cannot be guessed"]);
  expect(await warningsOf(search({ extraPaths: [gateway.stateDir] }))).toEqual([]);
});
