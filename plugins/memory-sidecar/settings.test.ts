import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { firstWord, resolveSidecarSettings } from "./settings.ts";
import { createTestState, type TestState, testConfig } from "./test-sidecar.ts";

let state: TestState;
beforeEach(() => {
  state = createTestState();
});
afterEach(() => state.dispose());

const first = (...args: Parameters<TestState["settings"]>) => state.settings(...args)[0];
const agents = (...list: Array<{ id: string; memorySearch?: object }>) => ({ agents: { list } });

test("there are none while another engine is chosen, and none for an agent whose memory is off", () => {
  const config = testConfig({}, agents({ id: "main" }, { id: "ops", memorySearch: { enabled: false } }));
  const of = (backend: string) =>
    resolveSidecarSettings({ ...config, memory: { ...config.memory, backend } }, state.stateDir).map(({ agentId }) => agentId);
  expect([of("builtin"), of("sidecar"), of("qmd")]).toEqual([[], ["main"], ["main"]]);
});

test("each agent has a home of its own", () => {
  expect(state.settings({}, agents({ id: "main" }, { id: "ops" })).map(({ home }) => home)).toEqual([
    `${state.stateDir}/agents/main/sidecar`,
    `${state.stateDir}/agents/ops/sidecar`,
  ]);
});

test("limits are the engine's own, else those of the memory search, else the defaults", () => {
  expect(first()?.limits).toEqual({ maxResults: 6, maxSnippetChars: 700, maxInjectedChars: 4_000, timeoutMs: 4_000 });
  const shared = agents({ id: "main", memorySearch: { limits: { maxResults: 9, maxSnippetChars: 90, timeoutMs: 900 } } });
  expect(first({}, shared)?.limits).toEqual({ maxResults: 9, maxSnippetChars: 90, maxInjectedChars: 4_000, timeoutMs: 900 });
  expect(first({ limits: { maxResults: 3 } }, shared)?.limits).toMatchObject({ maxResults: 3, maxSnippetChars: 90 });
  expect(first({}, { agents: { defaults: { memorySearch: { query: { maxResults: 4 } } } } })?.limits.maxResults).toBe(4);
});

test("vectors are made hourly in modes that need them, and in mode search only when somebody asks for it", () => {
  expect([first()?.update.embedIntervalMs, first({ searchMode: "query" })?.update.embedIntervalMs]).toEqual([undefined, 3_600_000]);
  expect(first({ update: { embedInterval: 0 } })?.update.embedIntervalMs).toBe(0);
  expect(first({ searchMode: "vsearch", update: { embedInterval: 60_000 } })?.update.embedIntervalMs).toBe(60_000);
});

test("extra folders of the defaults and of the agent are both there", () => {
  const defaults = { memorySearch: { extraPaths: ["/a"], sidecar: { extraCollections: [{ name: "all", path: "/x" }] } } };
  const list = [{ id: "main", memorySearch: { extraPaths: ["/b"], sidecar: { extraCollections: [{ name: "own", path: "/y" }] } } }];
  const found = first({ includeDefaultMemory: false }, { agents: { defaults, list } });
  expect(found?.collections.map(({ root }) => root)).toEqual(["/a", "/b", "/x", "/y"]);
});

describe("the folder of exported transcripts", () => {
  const of = (sessions: object, ...ids: string[]) =>
    state
      .settings({ sessions: { enabled: true, ...sessions } }, agents(...ids.map((id) => ({ id }))))
      .map((one) => one.sessions?.exportDir);

  test("is in the agent's own state, where a relative one begins, too", () => {
    expect(of({}, "main")).toEqual([`${state.stateDir}/agents/main/sidecar/sessions`]);
    expect(of({ exportDir: "said" }, "main", "ops")).toEqual([`${state.stateDir}/agents/main/said`, `${state.stateDir}/agents/ops/said`]);
    expect(first()?.sessions).toBeUndefined();
  });

  test("is never one of several agents: each deletes what is none of its sessions", () => {
    expect(of({ exportDir: "/srv/said" }, "main")).toEqual(["/srv/said"]);
    expect(of({ exportDir: "/srv/said" }, "main", "ops")).toEqual(["/srv/said/main", "/srv/said/ops"]);
    expect(of({ exportDir: "/srv/{agentId}/said" }, "main", "ops")).toEqual(["/srv/main/said", "/srv/ops/said"]);
  });

  test("of another agent is searched as transcripts", () => {
    const extraCollections = [{ name: "ops", path: `${state.stateDir}/agents/ops/sidecar/sessions` }];
    const [main] = state.settings({}, agents({ id: "main", memorySearch: { sidecar: { extraCollections } } }, { id: "ops" }));
    expect(main?.collections.at(-1)).toMatchObject({ name: "ops", source: "sessions" });
  });
});

test("only the first word of the command counts", () => {
  expect(["qmd", " qmd --index x ", '"/opt/my engine/qmd" -v', "'a b' c", ""].map(firstWord)).toEqual([
    "qmd",
    "qmd",
    "/opt/my engine/qmd",
    "a b",
    "",
  ]);
});
