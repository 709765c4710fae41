import { eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { gate, sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();
const entry = (id: string, value: object) => ({ plugins: { entries: { [id]: value } } });

describe("switching a plugin off and on", () => {
  test("takes its registrations away and brings them back, step by step, and touches nobody else", async () => {
    const shared = sharedWithPlugins({ did: [] as string[], imported: 0 });
    const setup = `shared.did.push("setup"); ${method("lamp.on", "true")} return { start() { shared.did.push("start"); }, stop() { shared.did.push("stop"); } };`;
    const plugins = [await own.write("lamp", { top: "shared.imported++;", setup }), await own.write("other", {})];
    await own.start({ plugins });
    const other = own.record("other").instance;

    expect((await own.gateway.reload(entry("lamp", { enabled: false }))).status).toBe("applied");
    expect(own.record("lamp")).toMatchObject({ state: "disabled", code: "not-enabled" });
    await expect(own.ask("lamp.on")).rejects.toThrow("unknown method");

    await own.gateway.reload(entry("lamp", { enabled: true }));
    expect(own.record("lamp")).toMatchObject({ state: "active", lastReload: { status: "enabled" } });
    expect(await own.ask("lamp.on")).toBe(true);
    expect(shared).toEqual({ did: ["setup", "start", "stop", "setup", "start"], imported: 1 });
    expect(own.record("other").instance).toBe(other);
  });

  test("does not wait for calls under way", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, entered: 0, stopped: 0 });
    const setup = `${method("slow.call", "(shared.entered++, await shared.held, 7)")} return { stop() { shared.stopped++; } };`;
    await own.start({ plugins: [await own.write("slow", { setup })] });
    const call = own.ask("slow.call");
    await eventually(() => shared.entered === 1);

    await own.gateway.reload(entry("slow", { enabled: false }));
    expect(own.record("slow").state).toBe("disabled");
    expect(shared.stopped).toBe(0);
    held.open();

    expect(await call).toBe(7);
    await eventually(() => shared.stopped === 1);
  });
});

describe("a changed config", () => {
  const schema = { type: "object", properties: { word: { type: "string" }, level: { type: "string" }, port: { type: "integer" } } };
  const word = (more = "") => `shared.setups++; ${method("talker.word", "ctx.config.word")} ${more}`;

  test("makes a new instance of the loaded code; nothing is imported again, also when files have changed", async () => {
    const shared = sharedWithPlugins({ setups: 0, imported: 0 });
    const manifest = { configSchema: schema };
    await own.start({
      plugins: [await own.write("talker", { manifest, top: "shared.imported++;", setup: word() })],
      config: entry("talker", { config: { word: "a" } }),
    });
    expect(await own.ask("talker.word")).toBe("a");

    await own.write("talker", { manifest, top: "shared.imported++;", setup: word().replace("ctx.config.word", `"edited"`) });
    await own.gateway.reload(entry("talker", { config: { word: "b" } }));

    expect(await own.ask("talker.word")).toBe("b");
    expect(shared).toEqual({ setups: 2, imported: 1 });
  });

  test("reaches a plugin without a schema of its own with its amounts as numbers", async () => {
    const amounts = { keep: { amount: { unit: "ms" } }, size: { amount: { unit: "bytes" } } };
    await own.start({
      plugins: [
        await own.write("talker", {
          manifest: { configSchema: { type: "object", properties: amounts } },
          setup: method("talker.sum", "[ctx.config.keep, ctx.config.size]"),
        }),
      ],
      config: entry("talker", { config: { keep: "30d", size: "2gb" } }),
    });
    expect(await own.ask("talker.sum")).toEqual([30 * 86_400_000, 2_000_000_000]);
  });

  test("that does not fit leaves the old one in force and says why", async () => {
    sharedWithPlugins({ setups: 0 });
    await own.start({
      plugins: [await own.write("talker", { manifest: { configSchema: schema }, setup: word() })],
      config: entry("talker", { config: { word: "a" } }),
    });

    await own.gateway.reload(entry("talker", { config: { word: 7 } }));

    expect(await own.ask("talker.word")).toBe("a");
    expect(own.record("talker")).toMatchObject({ state: "active", code: "reload-failed", lastReload: { status: "failed" } });
  });

  test("is taken in place when onConfigChange says so, and ctx.config is the new one", async () => {
    const shared = sharedWithPlugins({ setups: 0, seen: [] as unknown[] });
    const setup = word("return { onConfigChange(next, prev) { shared.seen.push([prev.word, next.word]); return next.word !== 'no'; } };");
    await own.start({
      plugins: [await own.write("talker", { manifest: { configSchema: schema }, setup })],
      config: entry("talker", { config: { word: "a" } }),
    });
    const before = own.record("talker").instance;

    await own.gateway.reload(entry("talker", { config: { word: "b" } }));
    expect(await own.ask("talker.word")).toBe("b");
    expect(own.record("talker")).toMatchObject({ instance: before, lastReload: { status: "in-place" } });

    await own.gateway.reload(entry("talker", { config: { word: "no" } }));
    expect(await own.ask("talker.word")).toBe("no");
    expect(own.record("talker").instance).toBe(before + 1);
    expect(shared).toEqual({
      setups: 2,
      seen: [
        ["a", "b"],
        ["b", "no"],
      ],
    });
  });

  test("does what the manifest says about its path", async () => {
    const shared = sharedWithPlugins({ setups: 0 });
    const manifest = { configSchema: schema, reload: { noopPrefixes: ["level"], restartPrefixes: ["port"] } };
    await own.start({
      plugins: [await own.write("talker", { manifest, setup: word() })],
      config: entry("talker", { config: { word: "a" } }),
    });

    await own.gateway.reload(entry("talker", { config: { word: "a", level: "loud" } }));
    expect(shared.setups).toBe(1);

    await own.gateway.reload(entry("talker", { config: { word: "b", level: "loud" } }));
    expect(shared.setups).toBe(2);
  });

  test("of its grants makes a new instance with the new powers", async () => {
    const manifest = { permissions: ["http.public"], contributes: { http: ["/open"] } };
    const setup = `ctx.registerHttpRoute({ method: "GET", path: "/open", match: "exact", auth: "plugin", handler: () => new Response("open") });`;
    await own.start({ plugins: [await own.write("door", { manifest, setup })] });
    expect(own.record("door")).toMatchObject({
      state: "degraded",
      code: "permission-missing",
      hint: expect.stringContaining("plugins.entries.door.grants"),
    });

    await own.gateway.reload(entry("door", { grants: ["http.public"] }));

    expect(own.record("door").state).toBe("active");
    expect((await fetch(`${own.gateway.url}/open`)).status).toBe(200);
  });
});
