import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  forgetOpenBlockSync,
  liftQuarantine,
  noteOpenBlockSync,
  quarantineSync,
  readQuarantine,
  settleOpenBlock,
} from "../../kernel/operations/quarantine.ts";
import { method, usePluginGateway } from "./_plugin-gateway.ts";

const own = usePluginGateway();
const block = { at: Date.UTC(2026, 2, 1, 12), ms: 60_000, what: "method lamp.on", stack: ["spin /lamp/index.ts:3"], pid: 4_711 };
const reason = "it blocked the event loop for 60 s (method lamp.on) and ended the gateway at 2026-03-01T12:00:00.000Z";

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-quarantine-"));
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

describe("the list of plugins that ended a gateway", () => {
  test("names a plugin until that is lifted", async () => {
    quarantineSync(stateDir, { ...block, plugin: "lamp" });
    expect([...(await readQuarantine(stateDir)).keys()]).toEqual(["lamp"]);

    expect(await liftQuarantine(stateDir, "lamp")).toBe(true);
    expect(await liftQuarantine(stateDir, "lamp")).toBe(false);
    expect((await readQuarantine(stateDir)).size).toBe(0);
  });

  test("has the plugin whose block was under way when somebody killed the process", async () => {
    noteOpenBlockSync(stateDir, { ...block, plugin: "lamp" });
    expect((await readQuarantine(stateDir)).size).toBe(0);

    expect(await settleOpenBlock(stateDir)).toMatchObject({ plugin: "lamp", pid: 4_711 });
    expect([...(await readQuarantine(stateDir)).keys()]).toEqual(["lamp"]);
    expect(await settleOpenBlock(stateDir)).toBeUndefined();
  });

  test.each([
    ["a block that came to its end", () => forgetOpenBlockSync(stateDir)],
    ["a slow import", () => noteOpenBlockSync(stateDir, { ...block, what: "import", plugin: "lamp" })],
    ["a block of nobody that could be named", () => quarantineSync(stateDir, block)],
  ])("gains nothing by %s", async (_, then) => {
    noteOpenBlockSync(stateDir, { ...block, plugin: "lamp" });
    then();
    await settleOpenBlock(stateDir);
    expect((await readQuarantine(stateDir)).size).toBe(0);
  });

  test("is empty when its file is damaged", async () => {
    await mkdir(join(stateDir, "gateway"));
    await writeFile(join(stateDir, "gateway", "quarantine.json"), '{"plugins":{"lamp":');
    expect((await readQuarantine(stateDir)).size).toBe(0);
    await writeFile(join(stateDir, "gateway", "quarantine.json"), '{"plugins":{"lamp":{"at":"never"}}}');
    expect((await readQuarantine(stateDir)).size).toBe(0);
  });
});

describe("a plugin that ended the gateway before", () => {
  const manifest = { contributes: { rpc: ["lamp.on"] } };
  const setup = method("lamp.on", "true");

  test("is not loaded; health and list say so and how to lift it, and plugins.setEnabled lifts it at once", async () => {
    const folder = await own.write("lamp", { manifest, setup });
    quarantineSync(stateDir, { ...block, plugin: "lamp" });
    const gateway = await own.start({ plugins: [folder], stateDir });

    expect(own.record("lamp")).toMatchObject({
      ...{ state: "blocked", code: "quarantined", reason },
      hint: "once it is mended, let it load again with: svc plugins enable lamp",
    });
    const { plugins } = await gateway.rpc<{ plugins: { errors: unknown[] } }>("health");
    expect(plugins.errors).toEqual([{ id: "lamp", error: reason }]);
    expect(gateway.logs.map((l) => l.message)).toContain(`plugin "lamp" is blocked: quarantined: ${reason}`);

    expect(await gateway.rpc("plugins.setEnabled", { pluginId: "lamp", enabled: true })).toMatchObject({ ok: true, warnings: [] });
    expect(await own.ask("lamp.on")).toBe(true);
    expect((await readQuarantine(stateDir)).size).toBe(0);
  });

  test("stays out when it is only reloaded, and is loaded when its author runs it with plugins.dev", async () => {
    const folder = await own.write("lamp", { manifest, setup });
    quarantineSync(stateDir, { ...block, plugin: "lamp" });
    const gateway = await own.start({ plugins: [folder], stateDir });

    await own.reload("lamp");
    expect(own.record("lamp").state).toBe("blocked");

    expect(await gateway.rpc("plugins.dev", { path: folder })).toMatchObject({ ok: true });
    expect(own.record("lamp").state).toBe("active");
  });

  test("is loaded all the same when it is a bundled one, and marked until somebody takes the mark away", async () => {
    quarantineSync(stateDir, { ...block, plugin: "store" });
    const gateway = await own.start({ plugins: ["store"], stateDir });
    await expect.poll(() => own.record("store")).toMatchObject({ state: "degraded", code: "blocked-event-loop", reason });
    const { instance } = own.record("store");

    await gateway.rpc("plugins.setEnabled", { pluginId: "store", enabled: true });

    expect(own.record("store")).toMatchObject({ state: "active", instance });
    expect(JSON.parse(await readFile(join(stateDir, "gateway", "quarantine.json"), "utf8"))).toEqual({ version: 1, plugins: {} });
  });
});
