import type { PluginKv } from "svc/sdk";
import { expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();
const keeper = async () => {
  const shared = sharedWithPlugins({ kv: undefined as unknown as PluginKv });
  await own.start({
    plugins: ["store", await own.write("keeper", { setup: `shared.kv = ctx.kv; ${method("keeper.all", "await ctx.kv.list()")}` })],
  });
  return shared.kv;
};

test("what a plugin keeps is durable and comes back in the order of its keys", async () => {
  const kv = await keeper();
  await Promise.all([kv.set("b", { n: [1, null, "ü"] }), kv.set("a/2", 2), kv.set("a/1", 1)]);
  await kv.set("b", "again");
  await kv.delete("a/2");

  expect([await kv.get("b"), await kv.get("a/2"), await kv.list("a/"), await own.ask("keeper.all")]).toEqual([
    "again",
    undefined,
    [{ key: "a/1", value: 1 }],
    [
      { key: "a/1", value: 1 },
      { key: "b", value: "again" },
    ],
  ]);
  expect(await own.gateway.service("store@2").kv.get("plugin/keeper", "b")).toBe("again");
});

test("5,000 keys are taken at the same time, the next one is refused, changing one is not", async () => {
  const kv = await keeper();
  const keys = Array.from({ length: 5_010 }, (_, i) => `k${i}`);
  const results = await Promise.allSettled(keys.map((key) => kv.set(key, 1)));
  expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(5_000);
  expect(results.flatMap((r) => (r.status === "rejected" ? [(r.reason as { code: string }).code] : []))).toEqual(
    Array(10).fill("kv-limit"),
  );

  await kv.set("k0", 2);
  await expect(kv.set("one more", 1)).rejects.toMatchObject({ code: "kv-limit" });
  await kv.delete("k0");
  await kv.set("one more", 1);
  expect(await kv.list()).toHaveLength(1_000);
});

test("without a store every use says what is missing", async () => {
  const shared = sharedWithPlugins({ kv: undefined as unknown as PluginKv });
  await own.start({ plugins: [await own.write("keeper", { setup: "shared.kv = ctx.kv;" })] });
  for (const use of [shared.kv.get("a"), shared.kv.set("a", 1), shared.kv.delete("a"), shared.kv.list()]) {
    await expect(use).rejects.toMatchObject({ code: "service-unavailable" });
  }
});
