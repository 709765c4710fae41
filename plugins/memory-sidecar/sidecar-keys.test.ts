import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SvcConfigInput } from "svc/sdk";
import { eventually, type FakeClock, fakeClock } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeEngine, fakeSidecarEngine } from "../../test/fakes/sidecar-engine.ts";
import type { SidecarBackend } from "./backend.ts";
import { createBackend, createHost, createTestState, type TestHost, type TestState, transcript } from "./test-sidecar.ts";

/** One test for each key of `memory.sidecar`: with another value something else happens. */
let state: TestState;
let engine: FakeEngine;
let host: TestHost;
let clock: FakeClock;
let backend: SidecarBackend | undefined;
beforeEach(async () => {
  state = createTestState({ "MEMORY.md": "# Home\n\nThe router stands in the hall.\n", "memory/day.md": "The boiler needs 1.4 bar.\n" });
  engine = await fakeSidecarEngine(join(state.stateDir, "bin"));
  clock = fakeClock();
  host = createHost(state, { clock, timers: clock });
});
afterEach(async () => {
  await backend?.close();
  state.dispose();
});

type Sidecar = NonNullable<Parameters<TestState["settings"]>[0]>;

function open(sidecar: Sidecar = {}, shared: SvcConfigInput = {}): SidecarBackend {
  backend = createBackend(host, state.settings({ command: engine.command, ...sidecar }, { ...quiet, ...shared }));
  return backend;
}
/** Files are not watched: the clock of these tests stands still. */
const quiet: SvcConfigInput = { agents: { defaults: { memorySearch: { sync: { watch: false } } } } };

async function started(sidecar: Sidecar = {}, shared: SvcConfigInput = {}): Promise<SidecarBackend> {
  const made = open(sidecar, shared);
  await made.sync("main", { reason: "start" });
  return made;
}
const lastArgs = async (command: string) => (await engine.calls(command)).at(-1)?.argv;
const paths = (hits: ReadonlyArray<{ path: string }>) => hits.map(({ path }) => path);
const updates = async () => (await engine.calls("update")).length;
const idle = (made: SidecarBackend) => eventually(() => made.managers.get("main")?.state().isUpdating === false);

test("command: the program that runs, without what is written behind it", async () => {
  const made = await started({ command: `"${engine.command}" --index other` });
  await made.search("main", "router", {});
  expect((await engine.calls("search")).length).toBe(1);
  await made.close();
  await expect(started({ command: join(state.stateDir, "bin/none") })).rejects.toThrow(
    "was not found; install it or set memory.sidecar.command",
  );
});

test("searchMode: the command of a search", async () => {
  await engine.behave({ vectors: 3 });
  for (const searchMode of ["search", "vsearch", "query"] as const) {
    const made = await started({ searchMode });
    await made.search("main", "router", {});
    expect((await engine.calls(searchMode)).length, searchMode).toBe(1);
    expect(made.facts?.("main").model).toBe(searchMode);
    await made.close();
  }
});

test("searchMode: without a single vector words are searched, and that is said", async () => {
  const made = await started({ searchMode: "vsearch" });
  expect(paths(await made.search("main", "router", {}))).toEqual(["MEMORY.md"]);
  expect(host.warnings).toEqual([expect.stringContaining('there are no vectors yet, so mode "search" is used instead of "vsearch"')]);
});

test("includeDefaultMemory: whether the agent's own notes are searched", async () => {
  const made = await started({ includeDefaultMemory: false });
  expect(await made.search("main", "router", {})).toEqual([]);
  expect(await engine.calls("collection add")).toEqual([]);
  await made.close();
  expect(paths(await (await started()).search("main", "router", {}))).toEqual(["MEMORY.md"]);
});

test("paths: further folders by name, path and pattern", async () => {
  const team = join(state.stateDir, "team");
  mkdirSync(team);
  writeFileSync(join(team, "a.md"), "The bicycle is blue.\n");
  writeFileSync(join(team, "b.txt"), "The bicycle is red.\n");
  const made = await started({ paths: [{ name: "Team", path: team, pattern: "*.txt" }] });
  expect(paths(await made.search("main", "bicycle", {}))).toEqual(["sidecar/team/b.txt"]);
  expect(await lastArgs("collection add")).toEqual(["collection", "add", team, "--name", "team", "--mask", "*.txt"]);
});

test("memorySearch.sidecar.extraCollections: folders of one agent, a second entry of a folder skipped with a word in the log", async () => {
  const team = join(state.stateDir, "team");
  mkdirSync(team);
  writeFileSync(join(team, "a.md"), "The bicycle is blue.\n");
  const extraCollections = [
    { name: "again", path: team, pattern: "*.txt" },
    { name: "mine", path: "own" },
  ];
  state.write("own/b.md", "The bicycle is red.\n");
  const list = [{ id: "main", memorySearch: { sidecar: { extraCollections } } }, { id: "ops" }];
  const made = await started({ paths: [{ name: "team", path: team, pattern: "**/*.md" }] }, { agents: { ...quiet.agents, list } });
  expect(paths(await made.search("main", "bicycle", {})).sort()).toEqual(["own/b.md", "sidecar/team/a.md"]);
  expect(host.debugs.filter((line) => line.includes("its second entry is skipped"))).toEqual([
    expect.stringContaining('"pattern":"*.txt","collection":"team"'),
  ]);
  expect(made.settings.find(({ agentId }) => agentId === "ops")?.collections.map(({ name }) => name)).not.toContain("mine-main");
});

describe("sessions", () => {
  const day = 86_400_000;
  const exported = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);
  const standard = () => join(state.stateDir, "agents/main/sidecar/sessions");

  test("enabled: transcripts are exported and searched", async () => {
    host.sessions.push(transcript("s1", clock.now(), "User: where is the ladder"));
    const made = await started();
    await made.sync("main");
    expect([exported(standard()), await made.search("main", "ladder", {})]).toEqual([[], []]);
    await made.close();

    const on = await started({ sessions: { enabled: true } });
    await on.sync("main");
    expect(exported(standard())).toEqual(["s1.md"]);
    expect(await on.search("main", "ladder", {})).toMatchObject([{ path: "sidecar/sessions-main/s1.md", source: "sessions" }]);
    expect(await on.search("main", "ladder", { sources: ["memory"] })).toEqual([]);
  });

  test("retentionDays: older ones are left out", async () => {
    host.sessions.push(transcript("new", clock.now() - 2 * day, "User: a"), transcript("old", clock.now() - 4 * day, "User: b"));
    await (await started({ sessions: { enabled: true, retentionDays: 3 } })).sync("main");
    expect(exported(standard())).toEqual(["new.md"]);
  });

  test("exportDir: where they are written", async () => {
    host.sessions.push(transcript("s1", clock.now(), "User: a"));
    await (await started({ sessions: { enabled: true, exportDir: "said" } })).sync("main");
    expect([exported(join(state.stateDir, "agents/main/said")), exported(standard())]).toEqual([["s1.md"], []]);
  });
});

describe("update", () => {
  test("interval: time between refreshes, 0 is none", async () => {
    const made = await started({ update: { onBoot: false, interval: 60_000, debounceMs: 0 } });
    await clock.advance(60_000);
    await idle(made);
    expect(await updates()).toBe(1);
    await made.close();
    const off = await started({ update: { onBoot: false, interval: 0 } });
    expect(clock.waiting).toEqual([]);
    await off.close();
  });

  test("debounceMs: no refresh before a search soon after the last one", async () => {
    const made = await started({ update: { onBoot: false, interval: 0, debounceMs: 20_000 } });
    await made.search("main", "router", {});
    await idle(made);
    await engine.behave({ deeds: { update: { exit: 1 } } });
    await clock.advance(19_000);
    await made.managers.get("main")?.index.update({ force: false });
    expect(await updates()).toBe(1);
    await clock.advance(1_000);
    await expect(made.managers.get("main")?.index.update({ force: false })).rejects.toThrow("update ended with code 1");
    expect(await updates()).toBe(2);
  });

  test("onBoot: whether the start refreshes", async () => {
    const made = await started({ update: { onBoot: false, interval: 0 } });
    await idle(made);
    expect(await updates()).toBe(0);
    await made.close();
    await idle(await started({ update: { interval: 0 } }));
    expect(await updates()).toBe(1);
  });

  test("waitForBootSync: whether the start waits for that, and a start that failed waits for nothing", async () => {
    await engine.behave({ deeds: { update: { delayMs: 50 } } });
    const made = open({ update: { waitForBootSync: true, interval: 0 } });
    await made.boot();
    expect(made.managers.get("main")?.state()).toMatchObject({ isUpdating: false, lastUpdateAt: clock.now() });
    await made.sync("main", { reason: "start" });
    expect(await updates()).toBe(1);
    await made.close();

    const later = open({ update: { interval: 0 } });
    await later.boot();
    expect(later.managers.size).toBe(0);
    await later.close();
    await open({ update: { waitForBootSync: true }, command: join(state.stateDir, "none") }).boot();
  });

  test("embedInterval: vectors follow an update, in mode search only when it is set", async () => {
    await (await started({ update: { onBoot: false, interval: 0 } })).sync("main");
    await backend?.close();
    expect(await engine.calls("embed")).toEqual([]);
    const made = await started({ update: { onBoot: false, interval: 0, embedInterval: 120_000, debounceMs: 0 } });
    for (const expected of [1, 1]) {
      await made.managers.get("main")?.index.update({ force: false });
      await eventually(async () => (await engine.calls("embed")).length === expected);
      await clock.advance(60_000);
    }
    // The interval begins when a run ends, which may have been a minute of this clock later.
    await clock.advance(60_000);
    await eventually(async () => {
      await made.managers.get("main")?.index.update({ force: false });
      return (await engine.calls("embed")).length === 2;
    });
  });

  test.each([
    ["commandTimeoutMs", "collection list", (made: SidecarBackend) => made.sync("main", { reason: "start" })],
    ["updateTimeoutMs", "update", (made: SidecarBackend) => made.sync("main")],
  ])("%s: the limit of %s", async (key, command, act) => {
    await engine.behave({ deeds: { [command]: { hang: true } } });
    const made = open({ update: { onBoot: false, interval: 0, commandTimeoutMs: 20_000, [key]: 400 } });
    await expect(act(made)).rejects.toThrow("did not end within 400 ms");
  });

  test("embedTimeoutMs: the limit of a run that makes vectors, for which nobody waits", async () => {
    await engine.behave({ deeds: { embed: { hang: true } } });
    const made = await started({ update: { onBoot: false, interval: 0, embedInterval: 0, embedTimeoutMs: 400 } });
    await made.sync("main");
    await eventually(() => made.managers.get("main")?.state().embedError === "qmd embed did not end within 400 ms");
    expect(paths(await made.search("main", "router", {}))).toEqual(["MEMORY.md"]);
  });
});

describe("limits", () => {
  test("maxResults: as many hits as are asked for, unless the caller says it", async () => {
    for (const nth of [1, 2, 3]) state.write(`memory/r${nth}.md`, `router ${"x".repeat(nth * 50)}\n`);
    const made = await started({ limits: { maxResults: 2 } });
    expect(await made.search("main", "router", {})).toHaveLength(2);
    expect(await lastArgs("search")).toEqual(expect.arrayContaining(["-n", "2"]));
    expect(await made.search("main", "router", { maxResults: 3 })).toHaveLength(3);
  });

  test("maxSnippetChars: the length of a snippet", async () => {
    expect(await (await started({ limits: { maxSnippetChars: 5 } })).search("main", "boiler", {})).toMatchObject([{ snippet: "The b" }]);
  });

  test("maxInjectedChars: told to the memory, which cuts what all snippets are together", () => {
    expect(open({ limits: { maxInjectedChars: 99 } }).facts?.("main").limits).toMatchObject({ maxInjectedChars: 99 });
  });

  test("timeoutMs: the limit of a search", async () => {
    await engine.behave({ deeds: { search: { hang: true } } });
    const made = await started(
      { update: { onBoot: false }, limits: { timeoutMs: 700 } },
      { agents: { defaults: { memorySearch: { sync: { watch: false, onSearch: false } } } } },
    );
    await expect(made.search("main", "router", {})).rejects.toThrow();
    expect(made.facts?.("main").limits).toMatchObject({ timeoutMs: 700 });
  });
});

test("scope: sessions that get no passages, with what decided in the log", async () => {
  const made = open();
  expect(await made.mayAnswer?.("main", "agent:main:main")).toBe(true);
  expect(await made.mayAnswer?.("main", "agent:main:telegram:group:7")).toBe(false);
  expect(host.infos).toEqual([
    'memory.sidecar.scope denies results to session "agent:main:telegram:group:7" (channel telegram, chat type group)',
  ]);
  const open2 = open({ scope: { default: "allow", rules: [{ action: "deny", match: { rawKeyPrefix: "agent:main:main" } }] } });
  expect([await open2.mayAnswer?.("main", "agent:main:main"), await open2.mayAnswer?.("main", "agent:main:telegram:group:7")]).toEqual([
    false,
    true,
  ]);
});

test("SIDECAR_*: models for the first command, and for those that follow another value, with all vectors rebuilt", async () => {
  host = createHost(state, {
    clock,
    timers: clock,
    env: { ...host.env, SIDECAR_EMBED_MODEL: "hf:one", SIDECAR_RERANK_MODEL: "hf:rank", SIDECAR_GENERATE_MODEL: "hf:gen" },
  });
  const once = { update: { onBoot: false, interval: 0, embedInterval: 0 } };
  await (await started(once)).sync("main");
  await eventually(async () => (await engine.calls("embed")).length === 1);
  expect((await engine.calls()).at(-1)?.env).toMatchObject({
    QMD_EMBED_MODEL: "hf:one",
    QMD_RERANK_MODEL: "hf:rank",
    QMD_GENERATE_MODEL: "hf:gen",
  });
  await backend?.close();

  host = createHost(state, { clock, timers: clock, env: { ...host.env, SIDECAR_EMBED_MODEL: "hf:two" } });
  await (await started(once)).sync("main");
  await eventually(async () => (await engine.calls("embed")).at(-1)?.argv.join(" ") === "embed -f");
});
