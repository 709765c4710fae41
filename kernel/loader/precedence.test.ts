import { expect, test } from "vitest";
import type { PluginCandidate, PluginProblem } from "../../sdk/types/plugin-candidate.ts";
import { resolvePrecedence } from "./precedence.ts";

const found = (origin: PluginCandidate["origin"], more: Partial<PluginCandidate> = {}): PluginCandidate => ({
  ...{ id: "demo", version: "1.0.0", root: `/${origin}`, origin, entry: "/x/index.ts", manifest: undefined },
  ...more,
});
const problem = (code: PluginProblem["code"]): Partial<PluginCandidate> => ({ problem: { state: "blocked", code, reason: "" } });

const five = [
  found("global", { root: "/by-hand" }),
  found("workspace"),
  found("bundled"),
  found("global", { root: "/installed", installed: true }),
  found("config"),
];

test.each([0, 1, 2, 3, 4])("of the roots from the %ith place on the strongest wins, and every other one names it", (weaker) => {
  const order = ["/config", "/installed", "/bundled", "/workspace", "/by-hand"].slice(weaker);
  const result = resolvePrecedence(five.filter((c) => order.includes(c.root)));
  expect(result.map((c) => c.root)).toEqual(order);
  const [winner, ...losers] = result;
  expect(winner?.problem).toBeUndefined();
  for (const { problem } of losers)
    expect(problem).toMatchObject({ state: "blocked", code: "duplicate-id", reason: expect.stringContaining(`(${order[0]})`) });
});

test("of two config paths the first one named wins", () => {
  const [first, second] = resolvePrecedence([found("config", { root: "/first" }), found("config", { root: "/second" })]);
  expect([first?.root, first?.problem, second?.problem?.code]).toEqual(["/first", undefined, "duplicate-id"]);
});

test("a winner that may not run keeps the place: the operator meant it", () => {
  const result = resolvePrecedence([found("config", problem("hardlink")), found("bundled")]);
  expect(result.map((c) => c.problem?.code)).toEqual(["hardlink", "duplicate-id"]);
});

test("one with a guessed id takes no place", () => {
  const result = resolvePrecedence([found("config", problem("manifest-invalid")), found("bundled")]);
  expect(result.map((c) => c.problem?.code)).toEqual(["manifest-invalid", undefined]);
});

test("equals are in the order of their ids, the same in every locale", () => {
  const ids = ["zeta", "alpha", "a-1", "a1"];
  expect(resolvePrecedence(ids.map((id) => found("workspace", { id }))).map((c) => c.id)).toEqual(["a-1", "a1", "alpha", "zeta"]);
});
