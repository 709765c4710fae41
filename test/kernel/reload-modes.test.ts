import { definePlugin } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { type Editable, edit, editAndApply, line, quickReload, reloadStatus } from "./_reload.ts";
import { connected } from "./_ws.ts";

type Mode = "off" | "hot" | "restart" | "hybrid";

let gateway: TestGateway;
let applied: string[] = [];
afterEach(() => gateway.close());

const models = definePlugin<unknown>({
  id: "models-part",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    ctx.onReload({
      prefixes: ["models"],
      prepare: async (next) => ({ apply: () => void applied.push(Object.keys(next.models.providers).join()), discard: () => undefined }),
    });
  },
});

const start = async (mode: Mode, own: Parameters<typeof createTestGateway>[0] = {}) => {
  applied = [];
  gateway = await createTestGateway({ plugins: [models], config: { gateway: { reload: { mode, ...quickReload } } }, ...own });
};

const running = () => {
  const { tools, models, plugins } = gateway.gateway.config();
  return { profile: tools.profile, models: Object.keys(models.providers).join(), deny: plugins.deny.length };
};

const swapOnly = (c: Editable) => (c.tools = { profile: "minimal" });
const hot = (c: Editable) => (c.models = { providers: { lab: { auth: "none" } } });
const needsRestart = (c: Editable) => (c.plugins.deny = ["nobody"]);
const all = (c: Editable) => [swapOnly(c), hot(c), needsRestart(c)];
const before = { profile: "full", models: "", deny: 0 };

/** The rows of the table: what a change of each kind does to a gateway that runs. */
describe("hot mode", () => {
  test.each([
    ["a path that is only read", swapOnly, { ...before, profile: "minimal" }, []],
    ["a hot path", hot, { ...before, models: "lab" }, ["lab"]],
  ])("applies %s", async (_, change, now, parts) => {
    await start("hot");
    await editAndApply(gateway, change);
    expect([running(), applied]).toEqual([now, parts]);
  });

  test("keeps the old value of a restart path, says so, and applies the rest", async () => {
    await start("hot");
    await editAndApply(gateway, all);
    expect(running()).toEqual({ profile: "minimal", models: "lab", deny: 0 });
    await line(gateway, "config change requires gateway restart; hot mode ignoring (plugins.deny)");
    expect(await reloadStatus(gateway, "active")).toMatchObject({ pendingRestart: ["plugins.deny"], restart: [] });
  });
});

test("in hot mode a write that is applied does not answer for an older change that waits", async () => {
  await start("hot");
  await edit(gateway, needsRestart);
  await line(gateway, "config change requires gateway restart; hot mode ignoring (plugins.deny)");
  const patch = async (raw: object) => {
    const { hash } = await gateway.rpc<{ hash: string }>("config.get", {});
    const { action, pendingRestart } = await gateway.rpc<{ action: string; pendingRestart: string[] }>("config.patch", {
      raw: JSON.stringify(raw),
      baseHash: hash,
    });
    return { action, pendingRestart };
  };
  expect(await patch({ models: { providers: { lab: { auth: "none" } } } })).toEqual({ action: "hot", pendingRestart: ["plugins.deny"] });
  expect(await patch({ plugins: { allow: ["someone"] } })).toEqual({
    action: "restart",
    pendingRestart: ["plugins.allow", "plugins.deny"],
  });
});

describe("hybrid mode", () => {
  test.each([
    ["a path that is only read", swapOnly, { ...before, profile: "minimal" }, []],
    ["a hot path", hot, { ...before, models: "lab" }, ["lab"]],
  ])("applies %s", async (_, change, now, parts) => {
    await start("hybrid");
    await editAndApply(gateway, change);
    expect([running(), applied]).toEqual([now, parts]);
  });

  test("takes a set with a restart path as one: nothing is applied early, one restart is asked for", async () => {
    await start("hybrid");
    await edit(gateway, all);
    await line(gateway, "config change requires gateway restart (plugins.deny)");
    expect([running(), applied]).toEqual([before, []]);
    const status = await eventually(async () => {
      const found = await reloadStatus(gateway, "active");
      return found.pendingRestart.length > 0 && found;
    });
    expect(status).toMatchObject({ pendingRestart: ["plugins.deny"], restart: ["config change requires gateway restart (plugins.deny)"] });
  });

  test("waits for active runs, and says for how many", async () => {
    await start("hybrid");
    const held = [gateway.service("gateway@1").hold("run a"), gateway.service("gateway@1").hold("run b")];
    await edit(gateway, needsRestart);
    await line(gateway, "config change requires gateway restart (plugins.deny) — waiting for 2 run(s)");
    for (const one of held) await one.dispose();
  });

  test("takes the restart back when the change is", async () => {
    await start("hybrid");
    const held = gateway.service("gateway@1").hold("run");
    await edit(gateway, needsRestart);
    await line(gateway, "config change requires gateway restart (plugins.deny)");
    await edit(gateway, (c) => delete c.plugins.deny);
    await eventually(async () => (await reloadStatus(gateway, "active")).restart.length === 0);
    expect((await reloadStatus(gateway, "active")).pendingRestart).toEqual([]);
    await held.dispose();
  });
});

describe("restart mode", () => {
  test("swaps a path that is only read", async () => {
    await start("restart");
    await editAndApply(gateway, swapOnly);
    expect(running()).toEqual({ ...before, profile: "minimal" });
  });

  test.each([
    ["a hot path", hot, "models.providers.lab.auth"],
    ["a restart path", needsRestart, "plugins.deny"],
    ["both", all, "models.providers.lab.auth, plugins.deny"],
  ])("asks for a restart because of %s", async (_, change, paths) => {
    await start("restart");
    await edit(gateway, change);
    await line(gateway, `config change requires gateway restart (${paths})`);
    expect([running(), applied]).toEqual([before, []]);
  });
});

describe("off", () => {
  test("does not look at the file and says so; every change waits for the next start", async () => {
    await start("off");
    expect(await reloadStatus(gateway, "off")).toMatchObject({ status: "off" });
    const { jobs } = await gateway.rpc<{ jobs: object }>("health");
    expect(Object.keys(jobs)).not.toContain("configPoll");
    await edit(gateway, all);
    expect([running(), applied]).toEqual([before, []]);
  });

  test("a write over RPC applies all the same what can be applied", async () => {
    await start("off");
    await edit(gateway, all);
    expect(await gateway.gateway.reload("rpc")).toMatchObject({ status: "applied", action: "hot", pendingRestart: ["plugins.deny"] });
    expect([running(), applied]).toEqual([{ profile: "minimal", models: "lab", deny: 0 }, ["lab"]]);
  });
});

test.each<Mode>(["off", "hot", "restart", "hybrid"])("switching to %s restarts nothing and takes effect at once", async (mode) => {
  await start(mode === "hybrid" ? "restart" : "hybrid");
  const socket = await connected(gateway);
  await editAndApply(gateway, (c) => (c.gateway.reload.mode = mode));
  await reloadStatus(gateway, mode === "off" ? "off" : "active");
  await edit(gateway, hot);
  if (mode === "off") expect(running()).toEqual(before);
  else if (mode === "restart") await line(gateway, "config change requires gateway restart (models.providers.lab.auth)");
  else await line(gateway, "config reload applied (models.providers.lab.auth)");
  expect((await socket.request("h", "health")).ok).toBe(true);
  await socket.close();
});

describe("a plugin", () => {
  const guard = (own: Partial<Record<"validate" | "plan" | "refuse", boolean>>) =>
    definePlugin<unknown>({
      id: "guard",
      version: "1.0.0",
      svc: { api: "*" },
      setup(ctx) {
        if (own.validate)
          ctx.on("config.validate", ({ config, paths }, meta) => {
            if (config.tools.profile === "minimal") meta.report({ path: "tools.profile", message: `not with me (${paths.join()})` });
          });
        if (own.plan)
          ctx.on("reload.plan", ({ actions, ...event }) => ({
            ...event,
            actions: actions.map((a) => ({ ...a, reload: "restart" as const })),
          }));
        if (own.refuse)
          ctx.onReload({
            prefixes: ["models"],
            prepare: async () => {
              throw new Error("there is no such vendor");
            },
          });
      },
    });

  test("may object to a change as a whole: it is refused with the plugin's words", async () => {
    await start("hybrid", { plugins: [models, guard({ validate: true })] });
    await edit(gateway, swapOnly);
    await line(gateway, "config reload skipped (refused): tools.profile: not with me (tools.profile)");
    expect(running()).toEqual(before);
    expect(await reloadStatus(gateway, "rejected")).toMatchObject({ issues: [{ path: "tools.profile" }] });
  });

  test("may turn a hot change into a restart, never the other way", async () => {
    await start("hybrid", { plugins: [models, guard({ plan: true })] });
    await edit(gateway, hot);
    await line(gateway, "config change requires gateway restart (models.providers.lab.auth)");
    expect([running(), applied]).toEqual([before, []]);
  });

  test("may refuse while it prepares: nobody has applied anything, and a later good change goes through", async () => {
    await start("hybrid", { plugins: [models, guard({ refuse: true })] });
    await edit(gateway, (c) => [swapOnly(c), hot(c)]);
    await line(gateway, 'config reload skipped (refused): plugin "guard": there is no such vendor');
    expect([running(), applied]).toEqual([before, []]);
    await editAndApply(gateway, (c) => delete c.models);
    expect(running()).toEqual({ ...before, profile: "minimal" });
    await reloadStatus(gateway, "active");
  });
});
