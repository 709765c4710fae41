import { expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";

const own = usePluginGateway();
const isolated = { plugins: { entries: { apart: { isolation: "worker" as const } } } };

test("a plugin told to run apart shows it, keeps its tools, and is degraded for what cannot be had from there", async () => {
  const setup = `ctx.registerTool({ name: "where", description: "", input: z.object({}), run: () => "apart" }); ${method("apart.word", "1")}`;
  await own.start({ plugins: [await own.write("apart", { setup })], config: isolated, stragglerMs: 60_000 });

  expect(own.record("apart")).toMatchObject({ state: "degraded", code: "isolation-unsupported", isolation: "worker" });
  expect(own.record("apart").diagnostics).toHaveLength(1);
  await expect(own.ask("apart.word")).rejects.toThrow("unknown method");
});

test("moving a plugin out of the gateway and back is a reload", async () => {
  const setup = `ctx.registerTool({ name: "where", description: "", input: z.object({}), run: () => "x" });`;
  await own.start({ plugins: [await own.write("apart", { setup })] });

  await own.gateway.reload(isolated);
  expect(own.record("apart")).toMatchObject({ state: "active", isolation: "worker", lastReload: { status: "reloaded" } });

  await own.gateway.reload({});
  expect(own.record("apart")).toMatchObject({ state: "active", lastReload: { status: "reloaded" } });
  expect(own.record("apart").isolation).toBeUndefined();
});
