import { expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();
const isolated = { plugins: { entries: { apart: { isolation: "worker" as const } } } };

const manifest = { contributes: { tools: ["where"] } };

test("a plugin told to run apart shows it, keeps its tools, and is degraded for what it registers besides", async () => {
  const setup = `ctx.registerTool({ name: "where", description: "", input: z.object({}), run: () => "apart" }); ${method("apart.word", "1")}`;
  await own.start({ plugins: [await own.write("apart", { manifest, setup })], config: isolated, stragglerMs: 60_000 });

  expect(own.record("apart")).toMatchObject({ state: "degraded", code: "isolation-unsupported", isolation: "worker" });
  expect(own.record("apart").diagnostics).toHaveLength(1);
  await expect(own.ask("apart.word")).rejects.toThrow("unknown method");
});

test("moving a plugin out of the gateway and back is a reload", async () => {
  const setup = `ctx.registerTool({ name: "where", description: "", input: z.object({}), run: () => "x" });`;
  await own.start({ plugins: [await own.write("apart", { manifest, setup })] });

  await own.gateway.reload(isolated);
  expect(own.record("apart")).toMatchObject({ state: "active", isolation: "worker", lastReload: { status: "reloaded" } });

  await own.gateway.reload({});
  expect(own.record("apart")).toMatchObject({ state: "active", lastReload: { status: "reloaded" } });
  expect(own.record("apart").isolation).toBeUndefined();
});

test("a plugin whose manifest has what isolation does not carry is refused with what that is, by the loader and by the config alike", async () => {
  const setup = `shared.ran = true;`;
  const shared = sharedWithPlugins({ ran: false });
  const contributes = { tools: ["where"], http: ["/where"], rpc: ["apart.word"] };
  const folder = await own.write("apart", { manifest: { contributes }, setup });
  const why =
    '"worker" carries tools, hook presets and observe hooks only, and the manifest of "apart" has contributes.rpc, contributes.http; leave plugins.entries.apart.isolation out';
  const gateway = await own.start({ plugins: [folder], config: isolated });

  expect(own.record("apart")).toMatchObject({ state: "failed", code: "config-invalid", reason: `plugins.entries.apart.isolation: ${why}` });
  expect(shared.ran).toBe(false);
  await gateway.reload({});
  expect(own.record("apart").state).toBe("active");
  const { hash } = await gateway.rpc<{ hash: string }>("config.get");
  await expect(gateway.rpc("config.patch", { raw: JSON.stringify(isolated), baseHash: hash })).rejects.toThrow(why);
});
