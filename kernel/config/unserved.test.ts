import { describe, expect, test } from "vitest";
import { composeConfigSchema } from "./compose-schema.ts";
import { configTypes } from "./config-types.ts";
import { lookupSchema } from "./lookup-schema.ts";
import { isUnservedKey, newlyUnserved, unservedIssues, unservedSummary, unservedValues, withoutUnserved } from "./unserved.ts";

const nowhere = () => ({ line: 1, column: 1 });
const pathsOf = (tree: unknown) => withoutUnserved(tree).found.map(({ path }) => path.join("."));

describe("what is not part of this release is taken out of a config", () => {
  test("a section by its leaves, and the rest stays", () => {
    const { tree, found } = withoutUnserved({ meta: { lastTouchedVersion: "1", a: { b: 2 } }, logging: { level: "debug" } });
    expect(tree).toEqual({ logging: { level: "debug" } });
    expect(found).toEqual([{ path: ["meta", "lastTouchedVersion"] }, { path: ["meta", "a", "b"] }]);
  });

  test("a key of every agent that has it", () => {
    const tree = {
      agents: { list: [{ id: "a", heartbeat: { directPolicy: "block" } }, { id: "b" }] },
      plugins: { entries: { "memory-core": { config: { dreaming: { enabled: true } } } } },
    };
    expect(withoutUnserved(tree).tree).toEqual({
      agents: { list: [{ id: "a", heartbeat: {} }, { id: "b" }] },
      plugins: { entries: { "memory-core": { config: { dreaming: { enabled: true } } } } },
    });
    expect(pathsOf(tree)).toEqual(["agents.list.0.heartbeat.directPolicy"]);
  });

  test("one value of a key whose others are served", () => {
    expect(withoutUnserved({ models: { mode: "replace", providers: {} } })).toEqual({
      tree: { models: { providers: {} } },
      found: [{ path: ["models", "mode"], value: "replace" }],
    });
    expect(pathsOf({ models: { mode: "merge" } })).toEqual([]);
    expect(unservedValues(["models", "providers", "x", "api"])).not.toContain("openai-completions");
  });

  test.each([[undefined], [null], [[]], ["meta"], [{}], [{ logging: {} }]])("a tree without any is the same tree: %j", (tree) => {
    expect(withoutUnserved(tree).tree).toBe(tree);
  });

  test("an empty section is found by its own name", () => {
    expect(pathsOf({ meta: {}, memory: {}, gateway: { controlUi: { root: {} } } })).toEqual(["meta", "gateway.controlUi.root"]);
  });
});

test("issues name the key, or the value, and say what to do", () => {
  const { found } = withoutUnserved({ meta: { lastTouchedVersion: "1" }, models: { mode: "replace" } });
  expect(unservedIssues(found, "svc.json", nowhere).map(({ path, code, message }) => ({ path, code, message }))).toEqual([
    { path: "meta.lastTouchedVersion", code: "not_in_release", message: "not part of this release; take it out" },
    {
      path: "models.mode",
      code: "not_in_release",
      message: '"replace" is not part of this release; choose another value or take the key out',
    },
  ]);
});

test("the summary of many keys stays one short line", () => {
  const found = Array.from({ length: 30 }, (_, i) => ({ path: ["meta", `k${i}`] }));
  expect(unservedSummary(unservedIssues(found, "svc.json", nowhere))).toMatch(
    /^30 keys or values .*meta\.k9 and 20 more; see svc config validate$/,
  );
  expect(unservedSummary([])).toBeUndefined();
});

describe("a write brings one", () => {
  const brought = (before: unknown, after: unknown) =>
    newlyUnserved({ source: before }, { source: after, path: "/x/svc.json", locate: nowhere }).map(({ path }) => path);

  test("when the config did not hold it, or held another value", () => {
    expect(brought({}, { meta: { lastTouchedVersion: "1" } })).toEqual(["meta.lastTouchedVersion"]);
    expect(brought({ meta: { lastTouchedVersion: "0" } }, { meta: { lastTouchedVersion: "1" } })).toEqual(["meta.lastTouchedVersion"]);
  });

  test("not when a list of it only loses members", () => {
    const of = (...touched: number[]) => ({ meta: { touched } });
    expect(brought(of(1, 2), of(2))).toEqual([]);
    expect(brought(of(1), of(1, 2))).toEqual(["meta.touched"]);
  });

  test("not when the config held it before, also when its list member has moved", () => {
    const [a, b] = [{ id: "a" }, { id: "b", agentDir: "b" }];
    expect(brought({ agents: { list: [a, b] } }, { agents: { list: [b] }, logging: { level: "debug" } })).toEqual([]);
    expect(brought({ agents: { list: [a, b] } }, { agents: { list: [{ ...a, agentDir: "a" }, b] } })).toEqual(["agents.list.0.agentDir"]);
  });
});

describe("the schema says so", () => {
  const composed = composeConfigSchema([]);

  test("of a key and everything below it, of single values, and of nothing else", () => {
    const marks = (path: string) => lookupSchema(composed, path)?.schema.notInRelease;
    expect(marks("meta")).toBe(true);
    expect(marks("meta.lastTouchedVersion")).toBe(true);
    expect(marks("agents.list.*.agentDir")).toBe(true);
    expect(marks("models.mode")).toEqual(["replace"]);
    expect(marks("gateway.port")).toBeUndefined();
    expect(isUnservedKey(["gateway", "tailscale"])).toBe(false);
  });

  test("and the types of a config admit neither", () => {
    const { dts } = configTypes(composed);
    expect(dts).toMatch(/meta\?: never;/);
    expect(dts).toMatch(/mode\?: "merge";/);
  });
});
