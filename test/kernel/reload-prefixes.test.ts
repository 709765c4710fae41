import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin, type ModelProvider, type PluginContext, type Tool } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Editable, editAndApply, instances, quickReload } from "./_reload.ts";
import { type BareSocket, connected } from "./_ws.ts";

/** Prefixes of the reload table with a part that may have to be rebuilt. */
const prefixes = ["agents", "cron", "diagnostics", "gateway.http", "hooks", "memory", "models", "secrets", "plugins.entries"];

let ctx: PluginContext<unknown>;
let asked: string[] = [];
let changed: string[][] = [];

/** Asks to take part everywhere, and remembers where it was asked. */
const spy = definePlugin<unknown>({
  id: "spy",
  version: "1.0.0",
  svc: { api: "*" },
  setup(given) {
    ctx = given;
    for (const prefix of prefixes) {
      const prepare = async () => ({ apply: () => void asked.push(prefix), discard: () => undefined });
      ctx.onReload({ prefixes: [prefix], prepare });
    }
    ctx.on("config.changed", ({ paths }) => void changed.push([...paths]));
  },
});

const small = (id: string) =>
  definePlugin<unknown>({
    id,
    version: "1.0.0",
    svc: { api: "*" },
    setup(own) {
      own.registerRpc({
        method: `${id}.instance`,
        scope: "read",
        params: anything,
        handler: () => ({ instance: own.instance, config: own.config }),
      });
    },
    config: anything,
  });
const anything = { "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) } };

const lab = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "sk-lab-0123456789", models: [{ id: "m" }] };
const config = () => ({
  gateway: { reload: quickReload },
  agents: { list: [{ id: "main" }, { id: "ops" }] },
  models: { providers: { lab, other: { ...lab, apiKey: "sk-other-0123456789" } } },
  plugins: { entries: { one: { config: { n: 1 } }, two: { config: { n: 1 } } } },
});

let gateway: TestGateway;
let socket: BareSocket;
beforeAll(async () => {
  const bundled = ["store", "agents", "memory-core", "model-openai-compatible", "openai-http", "control-ui"];
  gateway = await createTestGateway({ plugins: [...bundled, spy, small("one"), small("two")], config: config() });
  socket = await connected(gateway);
});
afterAll(async () => {
  await socket.close();
  await gateway.close();
});

/** Objects that a reload must not touch without need. */
const parts = () => ({
  lab: ctx.contributions<ModelProvider>("modelProvider").get("lab")?.value,
  other: ctx.contributions<ModelProvider>("modelProvider").get("other")?.value,
  search: ctx.contributions<Tool>("tool").get("memory_search")?.value,
  agents: gateway.service("agents@1"),
  memory: gateway.service("memory@1"),
  store: gateway.service("store@2"),
});

let before: { instances: Record<string, number>; parts: ReturnType<typeof parts> };
beforeEach(() => {
  asked = [];
  changed = [];
  before = { instances: instances(gateway), parts: parts() };
});

/** After each: the socket that was open is open and works, and nothing but what the test named is another object. */
let mayDiffer: { parts: string[]; instances: string[] } = { parts: [], instances: [] };
afterEach(async () => {
  expect((await socket.request(`after ${Math.random()}`, "health")).ok).toBe(true);
  const now = parts();
  for (const [name, part] of Object.entries(before.parts)) {
    if (mayDiffer.parts.includes(name)) continue;
    expect(now[name as keyof typeof now] === part, `${name} is still the same object`).toBe(true);
  }
  for (const [id, instance] of Object.entries(before.instances)) {
    if (!mayDiffer.instances.includes(id)) expect(instances(gateway)[id], `instance of ${id}`).toBe(instance);
  }
  mayDiffer = { parts: [], instances: [] };
});

describe("a change that is only read (`–`)", () => {
  test.each<[string, (c: Editable) => void]>([
    ["logging.level", (c) => (c.logging = { level: "debug" })],
    ["session.resetTriggers", (c) => (c.session = { resetTriggers: ["/again"] })],
    ["messages.queue.cap", (c) => (c.messages = { queue: { cap: 7 } })],
    ["bindings", (c) => (c.bindings = [{ agentId: "ops", match: { channel: "irc" } }])],
    ["tools.deny", (c) => (c.tools = { deny: ["exec"] })],
    ["gateway.reload.deferralTimeoutMs", (c) => (c.gateway.reload.deferralTimeoutMs = 1_000)],
    ["gateway.shutdown.drainMs", (c) => (c.gateway.shutdown = { drainMs: 1_000 })],
  ])("%s swaps the snapshot and asks nobody", async (path, change) => {
    expect(await editAndApply(gateway, change)).toBe(`config reload applied (${path})`);
    expect(asked).toEqual([]);
    expect(changed).toEqual([[path]]);
  });

  test("agents.defaults.* that is not listed asks the agents only, and the next read sees it", async () => {
    await editAndApply(gateway, (c) => (c.agents.defaults = { thinkingDefault: "high" }));
    expect(asked).toEqual(["agents"]);
    expect(ctx.snapshot().agents.defaults.thinkingDefault).toBe("high");
  });
});

describe("hot changes", () => {
  test("hooks: the ingress is asked, nobody else", async () => {
    await editAndApply(gateway, (c) => (c.hooks = { maxBodyBytes: 2_000 }));
    expect(asked).toEqual(["hooks"]);
  });

  test("secrets: their owner is asked, nobody else", async () => {
    await editAndApply(gateway, (c) => (c.secrets = { providers: { vars: { source: "env" } } }));
    expect(asked).toEqual(["secrets"]);
  });

  test("agents.list: a new agent is listed and has its workspace; running ones are left alone", async () => {
    await editAndApply(gateway, (c) => c.agents.list.push({ id: "extra", workspace: join(gateway.stateDir, "extra-space") }));
    expect(asked).toEqual(["agents"]);
    const { agents } = await gateway.rpc<{ agents: Array<{ id: string }> }>("agents.list");
    expect(agents.map((a) => a.id)).toEqual(["main", "ops", "extra"]);
    const models = (await (await gateway.fetch("/v1/models")).json()) as { data: Array<{ id: string }> };
    expect(models.data.map((m) => m.id)).toContain("svc/extra");
  });

  test("models: the provider that changed is recreated, the other one keeps its sockets", async () => {
    mayDiffer = { parts: ["lab"], instances: [] };
    await editAndApply(gateway, (c) => (c.models.providers.lab.apiKey = "sk-lab-rotated-01234"));
    expect(asked).toEqual(["models"]);
    expect(parts().lab === before.parts.lab).toBe(false);
    expect(parts().lab?.available()).toEqual({ ok: true });
  });

  test("models: one that goes and one that comes", async () => {
    mayDiffer = { parts: ["lab"], instances: [] };
    await editAndApply(gateway, (c) => {
      delete c.models.providers.lab;
      c.models.providers.third = lab;
    });
    const ids = [...ctx.contributions<ModelProvider>("modelProvider")].map((p) => p.id);
    expect(ids).toContain("third");
    expect(ids).not.toContain("lab");
  });

  test("agents.*.memorySearch: the tools and the service stay, the agent's memory follows", async () => {
    const notes = join(gateway.stateDir, "more-notes");
    await mkdir(notes, { recursive: true });
    await writeFile(join(notes, "lighthouse.md"), "# Lighthouse\n\nThe lighthouse key hangs behind the door.\n");
    await editAndApply(gateway, (c) => {
      c.agents.list.find((a: { id: string }) => a.id === "ops").memorySearch = { extraPaths: [notes] };
    });
    expect(asked).toEqual(["agents"]);
    const search = (agentId: string) => gateway.rpc<{ results: unknown[] }>("memory.search", { agentId, query: "lighthouse key" });
    await eventually(async () => (await search("ops")).results.length > 0);
    expect((await search("main")).results).toEqual([]);
  });

  test("agents.*.memorySearch.enabled: off for everybody takes the tools away, on brings them back", async () => {
    mayDiffer = { parts: ["search"], instances: [] };
    await editAndApply(gateway, (c) => (c.agents.defaults.memorySearch = { enabled: false }));
    expect(parts().search).toBeUndefined();
    await editAndApply(gateway, (c) => delete c.agents.defaults.memorySearch);
    expect(parts().search).toBeDefined();
  });

  test("memory: memory is asked, and citations follow", async () => {
    await editAndApply(gateway, (c) => (c.memory = { citations: "off" }));
    expect(asked).toEqual(["memory"]);
  });

  test("gateway.http.endpoints: one surface goes and comes back, the others stay", async () => {
    const status = async (path: string) => (await gateway.fetch(path)).status;
    await editAndApply(gateway, (c) => (c.gateway.http = { endpoints: { models: { enabled: false } } }));
    expect(asked).toEqual(["gateway.http"]);
    expect([await status("/v1/models"), await status("/v1/chat/completions"), await status("/healthz")]).toEqual([404, 405, 200]);
    await editAndApply(gateway, (c) => delete c.gateway.http);
    expect(await status("/v1/models")).toBe(200);
  });

  test("gateway.http.maxBodyBytes: the next request has the new limit", async () => {
    const post = () => gateway.fetch("/v1/chat/completions", { method: "POST", body: JSON.stringify({ pad: "x".repeat(5_000) }) });
    expect((await post()).status).toBe(400);
    await editAndApply(gateway, (c) => (c.gateway.http = { maxBodyBytes: 2_000 }));
    expect((await post()).status).toBe(413);
    await editAndApply(gateway, (c) => delete c.gateway.http);
  });
});

describe("plugins.entries.<id>", () => {
  const instance = (id: string) => gateway.rpc<{ instance: number; config: unknown }>(`${id}.instance`);

  test("config: that plugin is replaced, no other", async () => {
    mayDiffer = { parts: [], instances: ["one"] };
    await editAndApply(gateway, (c) => (c.plugins.entries.one.config = { n: 2 }));
    expect(await instance("one")).toEqual({ instance: (before.instances.one ?? 0) + 1, config: { n: 2 } });
    expect(await instance("two")).toEqual({ instance: before.instances.two, config: { n: 1 } });
  });

  test("enabled: that plugin goes and comes back, no other", async () => {
    mayDiffer = { parts: [], instances: ["one"] };
    await editAndApply(gateway, (c) => (c.plugins.entries.one.enabled = false));
    await expect(instance("one")).rejects.toThrow("unknown method");
    await editAndApply(gateway, (c) => (c.plugins.entries.one.enabled = true));
    expect(await instance("one")).toMatchObject({ config: { n: 2 } });
    expect(await instance("two")).toMatchObject({ instance: before.instances.two });
  });
});
