import { describe, expect, test } from "vitest";
import type { ReloadAction } from "../../sdk/types/reload.ts";
import { classifyChanges, planReload, type ReloadMode, raisedOnly } from "./reload-plan.ts";

const none: ReloadAction = { path: "logging.level", reload: "none" };
const hot: ReloadAction = { path: "models.mode", reload: "hot" };
const plugin: ReloadAction = { path: "plugins.entries.a.enabled", reload: "plugin" };
const restart: ReloadAction = { path: "gateway.port", reload: "restart" };
const switching: ReloadAction = { path: "gateway.reload.mode", reload: "none" };

describe("the table of modes", () => {
  test.each<[ReloadMode, ReloadAction[], { step: string; applied?: ReloadAction[]; pending?: ReloadAction[] }]>([
    ["off", [none], { step: "keep", pending: [none] }],
    ["off", [hot], { step: "keep", pending: [hot] }],
    ["off", [restart], { step: "keep", pending: [restart] }],
    ["off", [switching], { step: "swap", applied: [switching] }],
    ["off", [switching, hot], { step: "swap", applied: [switching], pending: [hot] }],
    ["hot", [none], { step: "swap", applied: [none] }],
    ["hot", [hot, plugin], { step: "swap", applied: [hot, plugin] }],
    ["hot", [restart], { step: "swap", pending: [restart] }],
    ["hot", [none, hot, restart], { step: "swap", applied: [none, hot], pending: [restart] }],
    ["restart", [none], { step: "swap", applied: [none] }],
    ["restart", [switching], { step: "swap", applied: [switching] }],
    ["restart", [hot], { step: "restart", pending: [hot] }],
    ["restart", [plugin], { step: "restart", pending: [plugin] }],
    ["restart", [none, restart], { step: "restart", pending: [restart] }],
    ["hybrid", [none], { step: "swap", applied: [none] }],
    ["hybrid", [hot, plugin], { step: "swap", applied: [hot, plugin] }],
    ["hybrid", [restart], { step: "restart", pending: [restart] }],
    ["hybrid", [none, hot, plugin, restart], { step: "restart", pending: [restart] }],
    ["hybrid", [], { step: "swap" }],
  ])("%s with %j", (mode, actions, { step, applied = [], pending = [] }) => {
    const plan = planReload(actions, { mode, explicit: false });
    const paths = (list: ReloadAction[]) => list.map((a) => a.path);
    expect(plan).toMatchObject({ step, applied: paths(applied), pendingRestart: paths(pending) });
    expect([...plan.applied, ...plan.kept].sort()).toEqual(paths(actions).sort());
  });

  test.each<[ReloadMode, string, string[]]>([
    ["off", "swap", ["models.mode"]],
    ["hot", "swap", ["models.mode"]],
    ["restart", "restart", []],
    ["hybrid", "restart", []],
  ])("asked for explicitly, %s with a hot and a restart path: %s", (mode, step, applied) => {
    expect(planReload([hot, restart], { mode, explicit: true })).toMatchObject({ step, applied });
  });
});

describe("the class of a path", () => {
  const context = {
    classOf: (path: string) => (path.startsWith("gateway") ? ("restart" as const) : ("hot" as const)),
    manifestReload: (id: string) =>
      id === "a" ? { hotPrefixes: ["ui", "deep.er"], restartPrefixes: ["socket"], noopPrefixes: ["ui.hint", "deep"] } : undefined,
    authModeChanged: false,
  };

  test.each([
    ["gateway.port", "restart"],
    ["gateway.reload.mode", "none"],
    ["models.mode", "hot"],
    ["plugins.entries.a.enabled", "plugin"],
    ["plugins.entries.a.config.other", "plugin"],
    ["plugins.entries.a.config.ui.color", "hot"],
    ["plugins.entries.a.config.ui.hint", "none"],
    ["plugins.entries.a.config.deep", "none"],
    ["plugins.entries.a.config.deep.er.still", "hot"],
    ["plugins.entries.a.config.socket.port", "restart"],
    ["plugins.entries.b.config.ui.color", "plugin"],
  ])("%s is %s", (path, reload) => {
    expect(classifyChanges([path], context)).toEqual([{ path, reload }]);
  });

  test("secrets of the gateway need a restart when they change how it authenticates", () => {
    const rotated = { ...context, classOf: () => "hot" as const };
    const paths = ["gateway.auth.token", "gateway.auth.rateLimit.maxAttempts"];
    expect(classifyChanges(paths, rotated).map((a) => a.reload)).toEqual(["hot", "hot"]);
    expect(classifyChanges(paths, { ...rotated, authModeChanged: true }).map((a) => a.reload)).toEqual(["restart", "hot"]);
  });
});

describe("a tap of reload.plan", () => {
  test("raises hot to restart", () => {
    expect(raisedOnly([hot, none], { actions: [{ ...hot, reload: "restart" }] })).toEqual([{ ...hot, reload: "restart" }, none]);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a lower class", { actions: [{ ...restart, reload: "none" }] }],
    ["an empty list", { actions: [] }],
    ["a path nobody changed", { actions: [{ path: "other", reload: "restart" }] }],
    ["rubbish", { actions: [null, 1, { path: 1 }] }],
  ])("changes nothing by answering %s", (_, answer) => {
    expect(raisedOnly([hot, restart], answer)).toEqual([hot, restart]);
  });
});
