import { definePlugin, type JsonObject, z } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let calls = 0;
let gw: TestGateway;

/** Tools of somebody else's plugin: some do their work, some do not, one is on the list of those nobody calls from outside. */
const bench = definePlugin<unknown>({
  id: "bench",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    const text = z.object({ text: z.string() });
    const tool = (name: string, run: (args: { text: string }) => unknown) =>
      ctx.registerTool({ name, description: `About ${name}`, input: text, run: (args) => run(args) });
    tool("echo", ({ text: said }) => ({ said, call: ++calls }));
    tool("broken", ({ text: said }) => {
      throw new Error(`at /secret/place with ${said}`);
    });
    tool("says_no", () => ({ content: [{ type: "text", text: "no such thing" }], isError: true }));
    tool("exec", () => "ran");
    tool("memory_notes", () => "notes");
    ctx.on("tool.before", ({ args }) =>
      (args as JsonObject).text === "forbidden" ? { block: true as const, reason: "not today" } : undefined,
    );
  },
});

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "memory-core", bench],
    config: {
      agents: {
        list: [{ id: "main" }, { id: "narrow", tools: { profile: "minimal", allow: ["memory_search"] } }, { id: "shell" }],
      },
      gateway: { tools: { deny: ["memory_get"] } },
    },
  });
});
afterAll(() => gw.close());

interface Catalog {
  groups: Array<{ id: string; tools: Array<{ id: string }> } & JsonObject>;
}
const namesOf = ({ groups }: Catalog) => Object.fromEntries(groups.map(({ id, tools }) => [id, tools.map((tool) => tool.id).sort()]));
const invoke = (params: JsonObject) => gw.rpc<JsonObject & { error?: JsonObject; output?: JsonObject }>("tools.invoke", params);
const echo = (params: JsonObject = {}) => invoke({ name: "echo", args: { text: "hi" }, ...params });

describe("tools.catalog", () => {
  test("has every tool by what it is for, others by their plugin, whatever an agent may use", async () => {
    const catalog = await gw.rpc<Catalog & JsonObject>("tools.catalog", { agentId: "narrow" });
    expect(catalog).toMatchObject({
      agentId: "narrow",
      profiles: [{ id: "minimal" }, { id: "coding" }, { id: "messaging" }, { id: "full" }],
    });
    expect(namesOf(catalog)).toEqual({
      memory: ["memory_append", "memory_get", "memory_search"],
      "plugin:bench": ["broken", "echo", "exec", "memory_notes", "says_no"],
    });
    const [memory, plugin] = catalog.groups;
    expect(memory).toMatchObject({ label: "Memory", source: "core" });
    expect(memory?.tools.find(({ id }) => id === "memory_search")).toEqual({
      ...{ id: "memory_search", label: "Memory search", source: "core", defaultProfiles: ["coding", "full"] },
      description: expect.any(String),
    });
    expect(plugin).toMatchObject({ label: "bench", source: "plugin", pluginId: "bench" });
    expect(plugin?.tools.find(({ id }) => id === "echo")).toEqual({
      ...{ id: "echo", label: "Echo", source: "plugin", pluginId: "bench", defaultProfiles: ["full"], description: "About echo" },
    });
  });

  test("leaves out tools of other plugins when asked to, and is of the default agent", async () => {
    const catalog = await gw.rpc<Catalog & JsonObject>("tools.catalog", { includePlugins: false });
    expect(catalog.agentId).toBe("main");
    expect(Object.keys(namesOf(catalog))).toEqual(["memory"]);
  });

  test("of an unknown agent is refused", async () => {
    const refusal = { code: "INVALID_REQUEST", details: { code: "UNKNOWN_AGENT_ID" } };
    await expect(gw.rpc("tools.catalog", { agentId: "zzz" })).rejects.toMatchObject(refusal);
    await expect(gw.rpc("tools.effective", { sessionKey: "agent:zzz:x" })).rejects.toMatchObject(refusal);
    await expect(invoke({ name: "echo", agentId: "zzz" })).rejects.toMatchObject(refusal);
  });
});

test("tools.effective is what policy leaves of it", async () => {
  const effective = await gw.rpc<Catalog & JsonObject>("tools.effective", { sessionKey: "agent:narrow:main" });
  expect(effective).toMatchObject({ agentId: "narrow", profile: "minimal" });
  expect(namesOf(effective)).toEqual({ memory: ["memory_search"] });
  expect(await gw.rpc("tools.effective", { sessionKey: "main" })).toMatchObject({ agentId: "main", profile: "full" });
});

describe("tools.invoke", () => {
  test("runs a tool and answers with its result", async () => {
    expect(await echo()).toEqual({
      ...{ ok: true, toolName: "echo", source: "plugin" },
      output: {
        content: [{ type: "text", text: expect.stringContaining('"said":"hi"') }],
        details: { said: "hi", call: expect.any(Number) },
      },
    });
    expect(await invoke({ name: "memory_search", args: { query: "router" } })).toMatchObject({ ok: true, source: "core" });
  });

  test.each<[string, JsonObject, string, string]>([
    ["a tool that is not there", { name: "nothing" }, "not_found", "Tool not available: nothing"],
    ["a tool that the agent may not use", { name: "echo", agentId: "narrow" }, "not_found", "Tool not available: echo"],
    ["a tool that gateway.tools.deny names", { name: "memory_get" }, "not_found", "Tool not available: memory_get"],
    ["a tool that nobody calls from outside", { name: "exec", args: { text: "ls" } }, "not_found", "Tool not available: exec"],
    ["arguments that do not fit", { name: "echo", args: { text: 5 } }, "invalid_args", "invalid echo arguments"],
    ["no arguments where some are needed", { name: "echo" }, "invalid_args", "invalid echo arguments"],
    ["a call that a plugin blocks", { name: "echo", args: { text: "forbidden" } }, "denied", "echo was blocked: not today"],
    ["a tool that throws", { name: "broken", args: { text: "x" } }, "failed", "tool execution failed"],
    ["a tool that says no", { name: "says_no", args: { text: "x" } }, "failed", "no such thing"],
  ])("answers %s with a refusal inside the payload", async (_name, params, code, message) => {
    const answer = await invoke(params);
    expect(answer).toMatchObject({ ok: false, toolName: params.name, error: { code, message: expect.stringContaining(message) } });
    expect(JSON.stringify(answer)).not.toContain("/secret/place");
  });

  test("runs a tool of the default list for administrators once the config allows it", async () => {
    const config = { gateway: { tools: { allow: ["exec"] } } };
    await gw.reload({ ...config, agents: { list: [{ id: "main" }, { id: "narrow", tools: { profile: "minimal" } }, { id: "shell" }] } });
    expect(await invoke({ name: "exec", args: { text: "ls" } })).toMatchObject({ ok: true });
    const writer = await gw.client({ scopes: ["operator.write"] });
    const answer = await writer.request("tools.invoke" as string, { name: "exec", args: { text: "ls" } });
    expect(answer).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect(await writer.request("tools.invoke" as string, { name: "echo", args: { text: "ls" } })).toMatchObject({ ok: true });
  });

  test("with a key does the work once, and tells a repeat the first result, also meanwhile", async () => {
    const before = calls;
    const [first, second] = await Promise.all([echo({ idempotencyKey: "k1" }), echo({ idempotencyKey: "k1" })]);
    expect(second).toEqual(first);
    expect(calls).toBe(before + 1);
    await echo();
    expect(await echo({ idempotencyKey: "k1", args: { text: "other" } })).not.toEqual(first);
    await echo({ idempotencyKey: "k1", sessionKey: "elsewhere" });
    expect(calls).toBe(before + 4);
  });

  test("with the key of an administrator gives its answer to nobody who may less", async () => {
    const answered = await echo({ idempotencyKey: "k4", args: { text: "for the owner" } });
    const writer = await gw.ws({ scopes: ["operator.write"] });
    const other = await writer.request("tools.invoke", { name: "exec", args: { text: "hi" }, idempotencyKey: "k4" });
    expect(other).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect(await echo({ idempotencyKey: "k4", args: { text: "for the owner" } })).toEqual(answered);
    await writer.close();
  });

  test("with a key keeps failures, but no refusal", async () => {
    expect(await echo({ idempotencyKey: "k2", args: {} })).toMatchObject({ ok: false });
    expect(await echo({ idempotencyKey: "k2" })).toMatchObject({ ok: true });
    await invoke({ name: "broken", args: { text: "x" }, idempotencyKey: "k3" });
    const before = calls;
    expect(await invoke({ name: "broken", args: { text: "x" }, idempotencyKey: "k3" })).toMatchObject({ ok: false, toolName: "broken" });
    expect(calls).toBe(before);
  });

  test.each<[string, JsonObject]>([
    ["no name", { args: {} }],
    ["arguments that are a list", { name: "echo", args: ["x"] }],
    ["a key of 257 characters", { name: "echo", idempotencyKey: "k".repeat(257) }],
    ["a stray key", { name: "echo", zzz: 1 }],
  ])("with %s is an invalid request", async (_name, params) => {
    const message = expect.stringContaining("invalid tools.invoke params");
    await expect(invoke(params)).rejects.toMatchObject({ code: "INVALID_REQUEST", message });
  });

  test("of one agent for a session of another is an invalid request", async () => {
    await expect(echo({ agentId: "narrow", sessionKey: "agent:main:x" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("logs names and sizes of what failed, never arguments", async () => {
    await invoke({ name: "broken", args: { text: "export KEY=hunter2hunter2" } });
    await invoke({ name: "exec", args: { text: "export KEY=hunter2hunter2" }, agentId: "narrow" });
    const lines = gw.logs.filter(({ message }) => message.startsWith("tools.invoke"));
    expect(lines.at(-1)).toMatchObject({ fields: { tool: "exec", code: "not_found", argsChars: 36 } });
    expect(JSON.stringify(gw.logs)).not.toContain("hunter2");
  });
});
