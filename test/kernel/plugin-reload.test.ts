import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { gate, sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();
const instances = () => Object.fromEntries(own.gateway.gateway.plugins().map((p) => [p.id, p.instance]));

describe("a plugin that was edited", () => {
  test("answers with its new code, and nothing else is touched", async () => {
    const plugins = [
      await own.write("edited", { setup: method("edited.word", `"old"`) }),
      await own.write("other", { setup: method("other.word", "1") }),
    ];
    await own.start({ plugins });
    const before = instances();
    const socket = await own.gateway.client();

    await own.write("edited", { setup: method("edited.word", `"new"`) });
    expect(await own.reload("edited")).toMatchObject({ id: "edited", status: "reloaded" });

    expect(await own.ask("edited.word")).toBe("new");
    expect(await socket.request("other.word" as never, {} as never)).toEqual({ value: 1 });
    expect(instances()).toEqual({ ...before, edited: (before.edited ?? 0) + 1 });
    expect(own.record("edited")).toMatchObject({ state: "active", lastReload: { status: "reloaded" } });
  });

  test.each([
    ["throws while it loads", { top: `throw new Error("broken top");` }, "broken top"],
    ["throws in setup", { setup: `${method("fragile.word", `"new"`)} throw new Error("broken setup");` }, "broken setup"],
    [
      "throws in start",
      { setup: `${method("fragile.word", `"new"`)} return { start() { throw new Error("broken start"); } };` },
      "broken start",
    ],
    ["has a manifest that cannot be read", { manifest: { version: 7 } }, "svc.plugin.json"],
    ["needs what nobody has", { top: `import "no-such-package-anywhere";` }, "no-such-package-anywhere"],
  ])("and now %s serves on as it was, and says why", async (_, broken, reason) => {
    const shared = sharedWithPlugins({ stopped: 0 });
    const good = `${method("fragile.word", `"old"`)} return { stop() { shared.stopped++; } };`;
    await own.start({ plugins: [await own.write("fragile", { setup: good })] });
    const before = own.record("fragile").instance;

    await own.write("fragile", { setup: good, ...broken });
    expect(await own.reload("fragile")).toMatchObject({ status: "failed", error: expect.stringContaining(reason) });

    expect(await own.ask("fragile.word")).toBe("old");
    expect(shared.stopped).toBe(0);
    const { state, code, instance, lastReload } = own.record("fragile");
    expect({ state, code, instance }).toEqual({ state: "active", code: "reload-failed", instance: before });
    expect(lastReload).toMatchObject({ status: "failed", error: expect.stringContaining(reason) });

    await own.write("fragile", { setup: method("fragile.word", `"mended"`) });
    expect((await own.reload("fragile")).status).toBe("reloaded");
    expect(await own.ask("fragile.word")).toBe("mended");
    expect(own.record("fragile").code).toBeUndefined();
  });

  test("is stopped only after the calls that were under way, which end on the old code", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, entered: 0, events: [] as string[] });
    const code = (word: string) => `${method("busy.slow", `(shared.entered++, await shared.held, ctx.signal.throwIfAborted(), "${word}")`)}
      return { stop() { shared.events.push("stop ${word}"); } };`;
    await own.start({ plugins: [await own.write("busy", { setup: code("old") })] });
    const slow = own.ask("busy.slow");
    await eventually(() => shared.entered === 1);

    await own.write("busy", { setup: code("new") });
    expect((await own.reload("busy")).status).toBe("reloaded");
    expect(shared.events).toEqual([]);
    held.open();

    expect(await slow).toBe("old");
    await eventually(() => shared.events.length > 0);
    expect(shared.events).toEqual(["stop old"]);
    expect(await own.ask("busy.slow")).toBe("new");
  });

  test("waits for calls no longer than drainMs", async () => {
    const shared = sharedWithPlugins({ stopped: 0, entered: 0 });
    const setup = `${method("stuck.call", `(shared.entered++, await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason))))`)}
      return { stop() { shared.stopped++; } };`;
    await own.start({ plugins: [await own.write("stuck", { setup })], config: { plugins: { reload: { drainMs: 50 } } } });
    const call = own.ask("stuck.call").catch((error: Error) => error.message);
    await eventually(() => shared.entered === 1);

    expect((await own.reload("stuck")).status).toBe("reloaded");

    await eventually(() => shared.stopped === 1);
    expect(await call).toContain("stopped");
    expect(own.gateway.logs.map((l) => l.message)).toContainEqual(expect.stringContaining("still has calls in progress"));
  });
});

test("a call whose checks are under way reaches the instance it was meant for", async () => {
  const held = gate();
  const shared = sharedWithPlugins({ held: held.opened, checking: 0, stopped: 0 });
  const setup = `ctx.registerRpc({ method: "checked.call", scope: "read", handler: () => ({ value: ctx.snapshot() && ctx.service("gateway@1") && ctx.instance }),
      params: { "~standard": { version: 1, vendor: "x", validate: async (value) => { shared.checking++; await shared.held; return { value }; } } } });
    return { stop() { shared.stopped++; } };`;
  await own.start({ plugins: [await own.write("checked", { setup })] });
  const call = own.ask("checked.call");
  await eventually(() => shared.checking === 1);
  const before = own.record("checked").instance;

  expect((await own.reload("checked")).status).toBe("reloaded");
  expect(shared.stopped).toBe(0);
  held.open();

  expect(await call).toBe(before);
  await eventually(() => shared.stopped === 1);
});

test.each([
  [
    "a hook",
    `ctx.on("rpc.before", async ({ method }) => { if (method === "user.go") { shared.entered++; await shared.held; ctx.signal.throwIfAborted(); } });`,
  ],
  [
    "a tool",
    `ctx.registerTool({ name: "slow", description: "", input: z.object({}), run: async () => { shared.entered++; await shared.held; ctx.signal.throwIfAborted(); return "ran"; } });`,
  ],
])("%s that is at work keeps its instance until it is done", async (_, registration) => {
  const held = gate();
  const shared = sharedWithPlugins({ held: held.opened, entered: 0, stopped: 0 });
  const user = method("user.go", `await ctx.contributions("tool").get("slow")?.value.run({}, {})`);
  const plugins = [
    await own.write("worker", { setup: `${registration} return { stop() { shared.stopped++; } };` }),
    await own.write("user", { setup: user }),
  ];
  await own.start({ plugins });
  const call = own.ask("user.go");
  await eventually(() => shared.entered === 1);

  expect((await own.reload("worker")).status).toBe("reloaded");
  expect(shared.stopped).toBe(0);
  held.open();

  await call;
  await eventually(() => shared.stopped === 1);
});

test("a tool that was looked up before a reload is run by the new instance", async () => {
  const shared = sharedWithPlugins({ kept: undefined as unknown, stopped: 0 });
  const tool = (word: string) => ({
    setup: `ctx.registerTool({ name: "speak", description: "", input: z.object({}), run: () => (ctx.service("gateway@1"), "${word}") });
      return { stop() { shared.stopped++; } };`,
  });
  const user = `${method("user.take", `(shared.kept = ctx.contributions("tool").get("speak").value, 1)`)} ${method("user.run", "shared.kept.run({}, {})")}`;
  await own.start({ plugins: [await own.write("speaker", tool("old")), await own.write("user", { setup: user })] });
  await own.ask("user.take");
  await own.write("speaker", tool("new"));
  await own.reload("speaker");
  await eventually(() => shared.stopped === 1 && own.record("speaker").state === "active");

  expect(await own.ask("user.run")).toBe("new");
});

describe("an HTTP answer that is still being sent", () => {
  test("keeps the old instance until its last byte", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, stopped: 0 });
    const setup = `ctx.registerHttpRoute({ method: "GET", path: "/stream", match: "exact", auth: "gateway", handler: () => new Response(new ReadableStream({
        async start(c) { c.enqueue(new TextEncoder().encode("one ")); await shared.held; c.enqueue(new TextEncoder().encode(ctx.signal.aborted ? "cut" : "two")); c.close(); } })) });
      return { stop() { shared.stopped++; } };`;
    await own.start({ plugins: [await own.write("streamer", { setup })] });
    const response = await own.gateway.fetch("/stream");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();

    expect((await own.reload("streamer")).status).toBe("reloaded");
    expect(shared.stopped).toBe(0);
    held.open();

    expect(new TextDecoder().decode((await reader.read()).value)).toBe("two");
    await reader.read();
    await eventually(() => shared.stopped === 1);
    expect(own.gateway.logs.filter((l) => l.message.includes("calls in progress"))).toEqual([]);
  });
});

describe("a change of its own config asked for from inside a call of the plugin", () => {
  const configSchema = { type: "object", properties: { n: { type: "integer" } } };
  /** Asks for the change and notes which instance was there when the answer came. */
  const asking = (id: string, seen: number[]) => async () => {
    await own.gateway.reload({ plugins: { entries: { [id]: { config: { n: 1 } } } } });
    seen.push(own.record(id).instance);
  };

  test.each([false, true])(
    "is scheduled, does not wait for itself, and happens when that call has ended (exclusive: %s)",
    async (exclusive) => {
      const shared = sharedWithPlugins({ change: async (): Promise<void> => undefined });
      const setup = method("turn.run", "(await shared.change(), ctx.signal.aborted || ctx.config.n)");
      const manifest = { configSchema, reload: { exclusive } };
      await own.start({ plugins: [await own.write("turn", { setup, manifest })] });
      const [before, seen] = [own.record("turn").instance, [] as number[]];
      shared.change = asking("turn", seen);

      expect(await own.ask("turn.run")).toBeUndefined();

      expect(seen).toEqual([before]);
      await eventually(() => own.record("turn").instance === before + 1 && own.record("turn").state === "active");
      shared.change = async () => undefined;
      expect(await own.ask("turn.run")).toBe(1);
    },
  );

  test("is scheduled too when the call came by way of another plugin's service", async () => {
    const shared = sharedWithPlugins({ change: async (): Promise<void> => undefined });
    const plugins = [
      await own.write("outer", { setup: method("outer.run", `await ctx.service("inner@1").run()`), manifest: { configSchema } }),
      await own.write("inner", { setup: `ctx.registerService("inner@1", { run: async () => { await shared.change(); return 7; } });` }),
    ];
    await own.start({ plugins });
    const [before, seen] = [own.record("outer").instance, [] as number[]];
    shared.change = asking("outer", seen);

    expect(await own.ask("outer.run")).toBe(7);

    expect(seen).toEqual([before]);
    await eventually(() => own.record("outer").instance === before + 1);
  });
});

describe("a plugin of native modules", () => {
  const files = async (folder: string, word: string) => {
    await writeFile(
      join(folder, "index.mjs"),
      `import { definePlugin, z } from "svc/sdk";
import { word } from "./helper.mjs";
const shared = globalThis["svc-test-shared"];
export default definePlugin({ id: "native", version: "1.0.0", svc: { api: "^1.0.0" }, setup(ctx) {
  ${method("native.word", "word")}
  ${method("native.late", `(shared.entered++, await shared.held, (await import("./late.mjs")).late)`)}
} });`,
    );
    await writeFile(join(folder, "helper.mjs"), `export const word = ${JSON.stringify(word)};`);
    await writeFile(join(folder, "late.mjs"), `export const late = ${JSON.stringify(word)};`);
  };
  const manifest = { entry: "index.mjs" };

  test("is fresh as a whole after an edit, and its old code may still import lazily; then its copy is removed", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, entered: 0 });
    const folder = await own.write("native", { manifest });
    await files(folder, "one");
    await own.start({ plugins: [folder] });
    const copies = join(own.gateway.stateDir, "cache", "gen", "native");
    await files(folder, "two");
    expect((await own.reload("native")).status).toBe("reloaded");
    expect(await own.ask("native.word")).toBe("two");
    expect(await readdir(copies)).toHaveLength(1);

    const late = own.ask("native.late");
    await eventually(() => shared.entered === 1);
    await files(folder, "three");
    expect((await own.reload("native")).status).toBe("reloaded");
    expect(await own.ask("native.word")).toBe("three");
    expect(await readdir(copies)).toHaveLength(2);
    held.open();

    expect(await late).toBe("two");
    await eventually(async () => (await readdir(copies)).length === 1);
  });

  test.each([
    ["while it runs", "one", undefined],
    ["at its first start", undefined, "failed"],
  ])("that cannot be imported %s is fresh as a whole once it is mended, and nothing of the failed one is left", async (_, good, state) => {
    const folder = await own.write("native", { manifest });
    const broken = async () => {
      await files(folder, "broken");
      await writeFile(join(folder, "late.mjs"), "export const late = 1;");
      await writeFile(
        join(folder, "index.mjs"),
        `import "./helper.mjs"; import "./late.mjs"; import { no } from "./broken.mjs"; throw new Error(String(no));`,
      );
      await writeFile(join(folder, "broken.mjs"), `throw new Error("broken top");`);
    };
    await (good ? files(folder, good) : broken());
    await own.start({ plugins: [folder] });
    if (state) expect(own.record("native").state).toBe(state);
    const copies = () => readdir(join(own.gateway.stateDir, "cache", "gen", "native")).catch(() => []);

    await broken();
    expect(await own.reload("native")).toMatchObject({ status: "failed", error: expect.stringContaining("broken top") });
    expect(await copies()).toEqual([]);
    await files(folder, "mended");
    await own.reload("native");

    expect(await own.ask("native.word")).toBe("mended");
    expect(await copies()).toHaveLength(1);
  });

  test("whose config does not fit leaves no copy, and is fresh as a whole once it does", async () => {
    const folder = await own.write("native", { manifest });
    await files(folder, "one");
    await own.start({ plugins: [folder] });
    const copies = () => readdir(join(own.gateway.stateDir, "cache", "gen", "native")).catch(() => []);

    await files(folder, "two");
    await own.write("native", {
      manifest: { ...manifest, configSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] } },
    });
    expect(await own.reload("native")).toMatchObject({ status: "failed" });
    await eventually(async () => (await copies()).length === 0);
    await own.write("native", { manifest });
    await files(folder, "three");

    expect((await own.reload("native")).status).toBe("reloaded");
    expect(await own.ask("native.word")).toBe("three");
  });

  test("keeps its copy for a call that outlives drainMs", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, entered: 0 });
    const folder = await own.write("native", { manifest });
    await files(folder, "one");
    await own.start({ plugins: [folder], config: { plugins: { reload: { drainMs: 1 } } } });
    await files(folder, "two");
    await own.reload("native");
    const late = own.ask("native.late");
    await eventually(() => shared.entered === 1);
    await files(folder, "three");
    await own.reload("native");
    await eventually(() => own.gateway.logs.some((l) => l.message.includes("still has calls in progress")));

    held.open();

    expect(await late).toBe("two");
  });
});

test("CommonJS files of a plugin are read anew", async () => {
  const folder = await own.write("common", { top: `import { word } from "./word.cjs";`, setup: method("common.word", "word") });
  await writeFile(join(folder, "word.cjs"), `exports.word = "one";`);
  await own.start({ plugins: [folder] });
  expect(await own.ask("common.word")).toBe("one");

  await writeFile(join(folder, "word.cjs"), `exports.word = "two";`);
  expect((await own.reload("common")).status).toBe("reloaded");
  expect(await own.ask("common.word")).toBe("two");
});

test("packages that were installed meanwhile need a restart, and that is said", async () => {
  const folder = await own.write("packaged", { setup: method("packaged.word", `"old"`) });
  await own.start({ plugins: [folder] });

  await mkdir(join(folder, "node_modules"));
  await own.write("packaged", { setup: method("packaged.word", `"new"`) });
  const answer = await own.gateway.rpc("plugins.reload", { plugins: [{ pluginId: "packaged" }] });

  expect(answer).toMatchObject({ restartRequired: true, results: [{ status: "restart-required" }] });
  expect(await own.ask("packaged.word")).toBe("old");
});

describe("a plugin that holds what only one instance may hold", () => {
  const exclusive = { manifest: { reload: { exclusive: true } } };
  const life = (word: string, start = "") => ({
    ...exclusive,
    setup: `shared.did.push("setup ${word}"); ${method("single.word", `"${word}"`)}
      return { start() { shared.did.push("start ${word}"); ${start} }, stop() { shared.did.push("stop ${word}"); } };`,
  });

  test("stops before the new one starts", async () => {
    const shared = sharedWithPlugins({ did: [] as string[] });
    await own.start({ plugins: [await own.write("single", life("old"))] });

    await own.write("single", life("new"));
    expect((await own.reload("single")).status).toBe("reloaded");

    expect(shared.did).toEqual(["setup old", "start old", "stop old", "setup new", "start new"]);
    expect(await own.ask("single.word")).toBe("new");
  });

  test("comes back when the new one does not start", async () => {
    const shared = sharedWithPlugins({ did: [] as string[] });
    await own.start({ plugins: [await own.write("single", life("old"))] });

    await own.write("single", life("new", `throw new Error("port taken");`));
    expect(await own.reload("single")).toMatchObject({ status: "rolled-back", error: expect.stringContaining("port taken") });

    expect(shared.did.slice(-2)).toEqual(["setup old", "start old"]);
    expect(await own.ask("single.word")).toBe("old");
    expect(own.record("single")).toMatchObject({ state: "active", code: "reload-failed", lastReload: { status: "rolled-back" } });
  });

  test("is not stopped for a config that does not fit", async () => {
    const shared = sharedWithPlugins({ did: [] as string[] });
    const manifest = { ...exclusive.manifest, configSchema: { type: "object", properties: { port: { type: "integer" } } } };
    await own.start({ plugins: [await own.write("single", { ...life("old"), manifest })] });

    await own.gateway.reload({ plugins: { entries: { single: { config: { port: "x" } } } } });

    expect(own.record("single").lastReload).toMatchObject({
      status: "failed",
      error: expect.stringContaining("plugins.entries.single.config"),
    });
    expect(shared.did).toEqual(["setup old", "start old"]);
    expect(await own.ask("single.word")).toBe("old");
  });
});
