import { expect, test } from "vitest";
import { notesOf, reasonOf, type WirePlugin } from "./plugin-rows.ts";

const plugin = (runtime: Partial<WirePlugin["runtime"]>, more: Partial<WirePlugin> = {}): WirePlugin => ({
  ...{ id: "irc", version: "1.0.0", name: "irc", description: "", origin: "config", enabled: true },
  runtime: { state: "active", since: 1, instance: 1, ...runtime },
  ...more,
});

test("a plugin that is well has nothing to note", () => {
  expect(notesOf(plugin({}, { hooks: [{ hook: "gateway.ready", state: "closed", failures: 0 }], diagnostics: [] }))).toEqual([]);
});

test("what is not well is noted: advice, isolation, resting hooks, the last reload, refused registrations", () => {
  const notes = notesOf(
    plugin(
      {
        state: "degraded",
        reason: "tool taken",
        hint: "rename it",
        isolation: "worker",
        lastReload: { at: 1, status: "failed", error: "boom" },
      },
      {
        hooks: [{ hook: "tool.before", tap: "guard", state: "open", failures: 3, lastError: "no answer" }],
        diagnostics: [
          { code: "contribution-conflict", message: "tool taken" },
          { code: "leak", message: "left a timer" },
        ],
      },
    ),
  );
  expect(notes).toEqual([
    "rename it",
    "runs in a worker of its own",
    "hook tool.before (guard) is resting after 3 failures: no answer",
    "its last reload failed: boom",
    "leak: left a timer",
  ]);
});

test.each([
  [{ code: "cycle", reason: "a → b → a" }, "cycle: a → b → a"],
  [{ reason: "why" }, "why"],
  [{ code: "cycle" }, undefined],
])("the reason of %j is %s", (runtime, text) => {
  expect(reasonOf(runtime)).toBe(text);
});
