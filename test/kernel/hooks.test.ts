import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";

let gateway: TestGateway;
afterEach(() => gateway.close());

const start = async (options: Parameters<typeof createTestGateway>[0] = {}) => {
  gateway = await createTestGateway({ ...options, plugins: [fixture("hook-recorder"), ...(options.plugins ?? [])] });
};

const identity = { id: "gateway-client", version: "0.0.0", platform: "linux", mode: "backend" } as const;

type Heard = { heard: Array<{ hook: string; event: Record<string, unknown> }> };

async function heard(hook: string) {
  return (await gateway.rpc<Heard>("hook-recorder.heard")).heard.filter((h) => h.hook === hook).map((h) => h.event);
}

test("gateway.ready is heard once, with the time the boot took", async () => {
  await start();

  expect(await heard("gateway.ready")).toEqual([{ uptimeMs: expect.any(Number) }]);
});

test("gateway.stopping is heard before the plugins stop", async () => {
  await start();

  await gateway.close();

  const lines = gateway.logs.map((line) => `${line.subsystem}: ${line.message} ${line.fields?.hook ?? ""}`);
  const stopping = lines.findIndex((line) => line.includes("heard gateway.stopping"));
  expect(stopping).toBeGreaterThan(-1);
  expect(stopping).toBeLessThan(lines.findLastIndex((line) => line.includes("stopped")));
});

test("plugin.state and the event plugins.changed tell of a plugin that failed after the others were up", async () => {
  await start({
    plugins: [fixture("hangs-in-setup")],
    stragglerMs: 100,
    config: { plugins: { entries: { "hangs-in-setup": { limits: { setupTimeoutMs: 1_000 } } } } },
  });
  const events: unknown[] = [];
  const client = await gateway.client();
  client.on("plugins.changed", (payload) => events.push(payload));

  const failed = await eventually(async () => (await heard("plugin.state")).find((e) => e.id === "hangs-in-setup" && e.to === "failed"));

  expect(failed).toMatchObject({ from: "loading", error: expect.stringContaining("did not finish within 1 s") });
  await eventually(() => events.length > 0);
  expect(events.at(-1)).toMatchObject({ pluginId: "hangs-in-setup", state: "failed" });
});

test("what config.validate reports is logged with its path, and the gateway runs", async () => {
  await start({ config: { logging: { level: "debug" } } });

  const warnings = gateway.logs.filter((line) => line.level === "warn").map((line) => line.message);
  expect(warnings).toContain("config: logging.level: the recorder objects to debug");
});

test("http.request may answer in the place of a route, and only to a caller who may use the route", async () => {
  await start();

  expect(await (await gateway.fetch("/recorded")).text()).toBe("by the hook");
  expect((await fetch(`${gateway.url}/recorded`)).status).toBe(401);
});

test("ws.connect may refuse a client that has proved itself; ws.disconnect tells of those who leave", async () => {
  await start();
  await expect(gateway.client({ client: { ...identity, instanceId: "unwanted" } })).rejects.toThrow("not this one");

  const welcome = await gateway.client({ client: { ...identity, instanceId: "welcome" } });
  await welcome.close();
  const left = await eventually(async () =>
    (await heard("ws.disconnect")).find((e) => (e.client as { instanceId?: string }).instanceId === "welcome"),
  );
  expect(left).toMatchObject({ code: 1000 });
});

test("rpc.before may refuse one caller a method; rpc.after tells how those ended that were let through", async () => {
  await start();
  const restricted = await gateway.client({ client: { ...identity, instanceId: "restricted" } });

  await expect(restricted.request("system-presence", {})).rejects.toThrow("not for this one");
  await expect(gateway.rpc("system-presence")).resolves.toBeDefined();

  const ended = (await heard("rpc.after")).filter((e) => e.method === "system-presence");
  expect(ended).toEqual([{ method: "system-presence", ok: true, ms: expect.any(Number) }]);
});

test("health.collect adds a part to the health snapshot, with whether it was asked for in depth", async () => {
  await start();

  expect(await gateway.rpc("health")).toMatchObject({ ok: true, recorder: { deep: false } });
  expect(await gateway.rpc("health", { probe: true })).toMatchObject({ ok: true, recorder: { deep: true } });
});

test("hello.snapshot adds the optional parts of hello-ok", async () => {
  await start();
  const client = await gateway.client();

  expect(client.hello).toMatchObject({ snapshot: { sessionDefaults: { mainKey: "recorded" } } });
});
