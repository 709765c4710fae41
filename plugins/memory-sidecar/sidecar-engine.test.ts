import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, memoryBackendContract } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeEngine, fakeSidecarEngine } from "../../test/fakes/sidecar-engine.ts";
import type { SidecarBackend } from "./backend.ts";
import { createBackend, createHost, createTestState, type TestHost, type TestState } from "./test-sidecar.ts";

describe("the backend over the engine", () => {
  memoryBackendContract(async () => {
    const state = createTestState();
    const engine = await fakeSidecarEngine(join(state.stateDir, "bin"));
    const settings = state.settings({ command: engine.command, update: { onBoot: false, interval: 0 } });
    return {
      backend: createBackend(createHost(state), settings),
      agentId: "main",
      write: async (path, text) => state.write(path, text),
      remove: async (path) => state.remove(path),
      dispose: async () => state.dispose(),
    };
  });
});

let state: TestState;
let engine: FakeEngine;
let host: TestHost;
let backend: SidecarBackend | undefined;
beforeEach(async () => {
  state = createTestState({ "MEMORY.md": "# Home\n\nThe router stands in the hall.\n", "memory/day.md": "The boiler needs 1.4 bar.\n" });
  engine = await fakeSidecarEngine(join(state.stateDir, "bin"));
  host = createHost(state, { env: { PATH: process.env.PATH, HOME: state.stateDir, SVC_GATEWAY_TOKEN: "secret", OWN_VARIABLE: "yes" } });
});
afterEach(async () => {
  await backend?.close();
  state.dispose();
});

const still = { onBoot: false, interval: 0, debounceMs: 0 };
/** Far above what a start of the engine takes: only what hangs comes to it. */
const patient = { timeoutMs: 50_000 };

function open(sidecar: Parameters<TestState["settings"]>[0] = {}, shared: Parameters<TestState["settings"]>[1] = {}): SidecarBackend {
  backend = createBackend(host, state.settings({ command: engine.command, update: still, limits: patient, ...sidecar }, shared));
  return backend;
}
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const noneLeft = async () => eventually(async () => !(await engine.calls()).some(({ pid }) => isAlive(pid)));
const named = async (command: string) => (await engine.calls(command)).map(({ argv }) => argv);

describe("commands", () => {
  test("run in the workspace with the folders of their agent, and with no secret of the gateway", async () => {
    await open().search("main", "router", {});
    const home = join(state.stateDir, "agents/main/sidecar");
    for (const { cwd, env, leaked } of await engine.calls()) {
      expect(cwd).toBe(state.workspace);
      expect(env).toMatchObject({
        XDG_CACHE_HOME: join(home, "xdg-cache"),
        QMD_CONFIG_DIR: join(home, "xdg-config/qmd"),
        NO_COLOR: "1",
        OWN_VARIABLE: "yes",
      });
      expect(leaked).toEqual([]);
    }
  });

  test("of a search are one argument each, whatever the query says", async () => {
    await engine.behave({ vectors: 1 });
    const made = open({ searchMode: "query" });
    for (const query of ["router hall", "-c evil", "lex: a\nvec: b", "$(reboot) `x` \"'"]) await made.search("main", query, {});
    const names = ["memory-root-main", "memory-alt-main", "memory-dir-main"].flatMap((name) => ["-c", name]);
    expect(await named("query")).toEqual(
      ["router hall", " -c evil", "lex: a vec: b", "$(reboot) `x` \"'"].map((query) => ["query", query, "--json", "-n", "6", ...names]),
    );
  });

  test("make collections that are missing or differ, and remove those that are no more", async () => {
    await open({
      paths: [
        { name: "a", path: "a", pattern: "*.md" },
        { name: "gone", path: "gone", pattern: "*.md" },
      ],
    })
      .sync("main")
      .catch(() => undefined);
    await backend?.close();
    mkdirSync(join(state.workspace, "a"), { recursive: true });
    const before = (await engine.calls()).length;
    await open({ paths: [{ name: "a", path: "a", pattern: "*.txt" }] }).sync("main", { reason: "start" });
    const since = (await engine.calls()).slice(before).map(({ argv }) => argv.slice(0, 3).join(" "));
    expect(since.filter((line) => /add|remove/.test(line))).toEqual([`collection add ${join(state.workspace, "a")}`]);
    await backend?.close();

    const again = (await engine.calls()).length;
    await open({ paths: [{ name: "b", path: "a", pattern: "*.txt" }] }).sync("main", { reason: "start" });
    expect((await engine.calls()).slice(again).map(({ argv }) => argv.slice(0, 3).join(" "))).toEqual(
      expect.arrayContaining(["collection remove a-main", `collection add ${join(state.workspace, "a")}`]),
    );
    expect(backend?.managers.get("main")?.state().failedCollections).toEqual([]);
  });

  test.each(["--mask", "--glob"] as const)("know the pattern by the flag %s, whichever the release has", async (patternFlag) => {
    await engine.behave({ patternFlag });
    expect(await open().search("main", "router", {})).toMatchObject([{ path: "MEMORY.md" }]);
  });

  test("search collections one by one where the release takes one only, the best hit of a document counting", async () => {
    await engine.behave({ oneCollection: true });
    const made = open();
    expect(await made.search("main", "1.4", {})).toMatchObject([{ path: "memory/day.md" }]);
    await made.search("main", "router", {});
    expect((await named("search")).map((argv) => argv.filter((arg) => arg === "-c").length)).toEqual([3, 1, 1, 1, 1, 1, 1]);
  });
});

test("several agents have an index each, and see each other's notes nowhere", async () => {
  const list = Array.from({ length: 10 }, (_, i) => ({ id: i === 0 ? "main" : `a${i}` }));
  const made = open({}, { agents: { list } });
  for (const { id } of list.slice(1)) {
    mkdirSync(join(state.stateDir, `workspace-${id}`), { recursive: true });
    writeFileSync(join(state.stateDir, `workspace-${id}`, "MEMORY.md"), `The router of ${id}.\n`);
  }
  const found = await Promise.all(list.map(({ id }) => made.search(id, "router", {})));
  expect(found.map((hits) => hits.length)).toEqual(list.map(() => 1));
  expect(found.slice(1).map(([hit]) => hit?.snippet)).toEqual(list.slice(1).map(({ id }) => `The router of ${id}.`));
});

describe("an engine that fails", () => {
  test.each([
    ["is killed", { killed: true }, "was ended by SIGKILL"],
    ["prints garbage", { stdout: "Segmentation fault" }, "no JSON array"],
    ["ends with a code", { exit: 3, stderr: "no room" }, "search ended with code 3: no room"],
    ["prints without end", { flood: true }, "printed more than 200000 characters"],
    ["hangs", { hang: true }, "within"],
    ["is too slow", { delayMs: 600_000 }, "within"],
  ])("because it %s rejects the search in time, leaves no process, and is asked anew by the next one", async (_, deed, message) => {
    const made = open({ limits: message === "within" ? { timeoutMs: 2_500 } : patient });
    await made.sync("main");
    await engine.behave({ deeds: { search: deed } });
    await expect(made.search("main", "router", {})).rejects.toThrow(message);
    await noneLeft();
    await engine.behave({});
    await made.sync("main", { reason: "start" });
    // A start of the engine may take longer than the short limit where other work wants the cores.
    await eventually(async () => expect(await made.search("main", "router", {})).toMatchObject([{ path: "MEMORY.md" }]) ?? true);
  });

  test("while it updates keeps its index, and says what is wrong until it works again", async () => {
    const made = open();
    await made.sync("main");
    await engine.behave({ deeds: { update: { exit: 1, stderr: "SqliteError: database or disk is full" } } });
    for (const _ of [1, 2])
      await expect(made.sync("main")).rejects.toThrow("update ended with code 1: SqliteError: database or disk is full");
    expect(host.warnings).toHaveLength(1);
    expect((await made.status("main")).lastError).toContain("disk is full");
    expect(await made.search("main", "router", {})).toHaveLength(1);
    await engine.behave({ deeds: { update: { killed: true } } });
    await expect(made.sync("main")).rejects.toThrow("was ended by SIGKILL");
    await engine.behave({});
    await made.sync("main");
    expect((await made.status("main")).lastError).toBeUndefined();
    expect(await made.search("main", "router", {})).toHaveLength(1);
  });

  test("because the index is held is tried three times at the start, which waits for none of it", async () => {
    await engine.behave({ deeds: { update: { exit: 1, stderr: "database is locked", times: 2 } } });
    const made = open({ update: { interval: 0, debounceMs: 0 } });
    await made.sync("main", { reason: "start" });
    await eventually(() => made.managers.get("main")?.state().lastUpdateAt !== undefined);
    expect((await named("update")).length).toBe(3);
  });
});

describe("repairs", () => {
  test("a collection that the engine has lost is recreated, once", async () => {
    const made = open();
    await made.sync("main");
    await engine.behave({ deeds: { search: { exit: 1, stderr: "Collection not found: memory-dir-main", times: 1 } } });
    expect(await made.search("main", "boiler", {})).toHaveLength(1);
    expect((await named("collection remove")).length).toBe(3);
    await engine.behave({ deeds: { search: { exit: 1, stderr: "Collection not found: memory-dir-main" } } });
    await expect(made.search("main", "boiler", {})).rejects.toThrow("Collection not found");
  });

  test("an index with two rows of one path is rebuilt, once", async () => {
    const made = open();
    const stderr = "SqliteError: UNIQUE constraint failed: documents.collection, documents.path";
    await engine.behave({ deeds: { update: { exit: 1, stderr, times: 1 } } });
    await made.sync("main");
    expect([(await named("update")).length, (await named("collection remove")).length]).toEqual([2, 3]);
    await engine.behave({ deeds: { update: { exit: 1, stderr } } });
    await expect(made.sync("main")).rejects.toThrow("UNIQUE constraint failed");
    expect((await named("update")).length).toBe(3);
  });
});

test("a changed note is found after a moment, without anybody asking for an update", async () => {
  const made = open();
  await made.sync("main");
  const before = (await named("update")).length;
  state.write("memory/sub/new.md", "The ladder is in the shed.\n");
  await eventually(async () => (await named("update")).length > before);
  await eventually(async () => (await made.search("main", "ladder", {})).length === 1);
}, 70_000);

test("a search waits half a second for an update before it, and no longer", async () => {
  const made = open();
  await made.sync("main", { reason: "start" });
  await engine.behave({ deeds: { update: { hang: true } } });
  // The update hangs until it is ended: an answer is one that did not wait for its end.
  expect(await made.search("main", "router", {})).toHaveLength(1);
});

test("hits that carry an id alone are looked up, and left out where they are not found", async () => {
  const made = open();
  await made.sync("main");
  await engine.behave({ idsOnly: true });
  expect(await made.search("main", "router", {})).toEqual([]);
});

test("a reset drops the index, and never a note", async () => {
  const made = open();
  await made.sync("main");
  expect(await made.reset?.("main")).toEqual({ removed: true });
  expect(await made.reset?.("main")).toEqual({ removed: false });
  expect(await made.search("main", "router", {})).toHaveLength(1);
});
