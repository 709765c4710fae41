import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { stopBudget } from "../../kernel/boot/lifecycle.ts";
import { gate, sharedWithPlugins, writePlugin } from "./_plugins.ts";
import { challenged, connected, connectParams } from "./_ws.ts";

let root: string;
let gateway: TestGateway | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-stop-"));
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await rm(root, { recursive: true, force: true });
});

const echo = {
  setup: `ctx.registerHttpRoute({ method: "GET", path: "/echo", match: "exact", auth: "gateway", handler: () => new Response("here") });`,
};

const loud = {
  setup: `
    ctx.registerRpc({ method: "loud.say", scope: "read", params: z.strictObject({ bytes: z.number() }), handler: ({ bytes }) => {
      ctx.emit("said", { text: "x".repeat(bytes) }, { scope: "read" });
      return {};
    } });`,
};

/** Reason given to a client that is refused. */
function refusalOf({ wsUrl }: TestGateway): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(wsUrl);
    socket.once("error", (error) => resolve(error.message));
    socket.once("open", () => resolve("let in"));
  });
}

test("clients hear of a stop once, and not of each plugin that ends with it", async () => {
  gateway = await createTestGateway({ plugins: [await writePlugin(root, "echo", echo), await writePlugin(root, "loud", loud)] });
  const connection = await connected(gateway);
  const changes = () => connection.frames.filter((frame) => frame.event === "plugins.changed").map((frame) => frame.payload.pluginId);
  await gateway.rpc("plugins.reload", { plugins: [{ pluginId: "echo" }] });
  await eventually(() => changes().length > 0);
  const before = changes();

  await gateway.gateway.close("gateway stopping");

  await connection.end();
  expect(connection.frames.at(-1)).toMatchObject({ event: "shutdown" });
  expect(changes()).toEqual(before);
});

describe("while work is held a stopping gateway", () => {
  test("waits for it, and refuses new work with the time to come back", async () => {
    gateway = await createTestGateway({
      plugins: [await writePlugin(root, "echo", echo)],
      config: { gateway: { shutdown: { drainMs: 5_000 } } },
    });
    const early = await challenged(gateway);
    const connection = await connected(gateway);
    const hold = gateway.service("gateway@1").hold("a run");
    let over = false;

    const closing = gateway.gateway.close("gateway stopping").then(() => {
      over = true;
    });

    await eventually(async () => (await gateway?.fetch("/readyz"))?.status === 503);
    const route = await gateway.fetch("/echo");
    expect([route.status, route.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await gateway.fetch("/nowhere")).status).toBe(503);
    expect((await gateway.fetch("/healthz")).status).toBe(200);
    const ready = await gateway.fetch("/readyz");
    expect([ready.status, await ready.json()]).toEqual([503, expect.objectContaining({ ready: false, phase: "draining" })]);
    await expect(refusalOf(gateway)).resolves.toBe("Unexpected server response: 503");
    const late = await early.request("1", "connect", connectParams(gateway.token));
    expect(late.error).toMatchObject({ code: "UNAVAILABLE", retryable: true, retryAfterMs: 1_000, details: { code: "DRAINING" } });
    expect(await early.end()).toEqual({ code: 1001, reason: "gateway stopping" });
    expect((await connection.request("2", "health", { probe: true })).payload.phase).toBe("draining");
    expect(over).toBe(false);
    expect(connection.frames.some((f) => f.event === "shutdown")).toBe(false);

    hold.dispose();
    await closing;
    expect(await connection.end()).toEqual({ code: 1001, reason: "gateway stopping" });
    expect(connection.frames.at(-1)).toMatchObject({ event: "shutdown", payload: { reason: "gateway stopping" } });
  });

  test("does not wait longer than gateway.shutdown.drainMs", async () => {
    gateway = await createTestGateway({ plugins: [], config: { gateway: { shutdown: { drainMs: 50 } } } });
    gateway.service("gateway@1").hold("for ever");
    await gateway.gateway.close("gateway stopping");
    expect(gateway.logs.at(-1)?.message).toBe("stopped");
  });

  test("does not wait longer than its supervisor does, less five seconds, nor for a plugin that hangs", async () => {
    const hung = await writePlugin(root, "hung", { setup: "return { stop: () => new Promise(() => undefined) };" });
    gateway = await createTestGateway({ plugins: [hung], env: { SVC_STOP_TIMEOUT_MS: "5050" } });
    gateway.service("gateway@1").hold("for ever");
    await gateway.gateway.close("gateway stopping");
    expect(gateway.logs.map(({ message }) => message)).toContain("plugins did not stop within 3 s; ending without them");
    expect(gateway.logs.at(-1)?.message).toBe("stopped");
  });

  test.each([
    [{}, Number.POSITIVE_INFINITY],
    [{ SVC_STOP_TIMEOUT_MS: "30000" }, 25_000],
    [{ SVC_STOP_TIMEOUT_MS: "4000" }, 0],
    [{ SVC_STOP_TIMEOUT_MS: "soon" }, Number.POSITIVE_INFINITY],
  ])("with %j has %d ms", (env, ms) => expect(stopBudget(env)).toBe(ms));

  test("waits for each of several, also of one name", async () => {
    gateway = await createTestGateway({ plugins: [] });
    const holds = [1, 2].map(() => (gateway as TestGateway).service("gateway@1").hold("run"));
    let over = false;
    const closing = gateway.gateway.close("gateway stopping").then(() => {
      over = true;
    });
    holds[0]?.dispose();
    holds[0]?.dispose();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(over).toBe(false);
    holds[1]?.dispose();
    await closing;
  });
});

test("a restart says when it will be back, and closes with 1012", async () => {
  gateway = await createTestGateway({ plugins: [] });
  const connection = await connected(gateway, { scopes: [] });
  await gateway.gateway.close("gateway restarting: config change: gateway.port", { restart: true });
  expect(await connection.end()).toEqual({ code: 1012, reason: "service restart" });
  expect(connection.frames.at(-1)).toMatchObject({
    event: "shutdown",
    payload: { reason: "gateway restarting: config change: gateway.port", restartExpectedMs: 1_500 },
  });
});

test("what plugins say at their end comes before shutdown, and a method that is gone is not unknown but draining", async () => {
  const shared = sharedWithPlugins({ stop: gate(), stopping: false });
  const late = await writePlugin(root, "late", {
    manifest: { dependencies: { early: "^1.0.0" } },
    setup: `
      ctx.registerRpc({ method: "late.ping", scope: "read", params: z.strictObject({}), handler: () => ({}) });
      return { stop: () => ctx.emit("last", {}, { scope: "read" }) };`,
  });
  const early = await writePlugin(root, "early", {
    setup: "return { stop: async () => { shared.stopping = true; await shared.stop.opened; } };",
  });
  gateway = await createTestGateway({ plugins: [late, early] });
  const connection = await connected(gateway);

  const closing = gateway.gateway.close("gateway stopping");
  await eventually(() => shared.stopping);
  expect((await connection.request("1", "late.ping")).error).toMatchObject({ code: "UNAVAILABLE", details: { code: "DRAINING" } });
  shared.stop.open();
  await closing;

  expect(connection.frames.filter((f) => f.seq !== undefined && f.event !== "plugins.changed").map((f) => f.event)).toEqual([
    "plugin.late.last",
    "shutdown",
  ]);
});

test("a client that reads nothing holds the stop up for no longer than a moment, and the others still hear of it first", async () => {
  gateway = await createTestGateway({ plugins: [await writePlugin(root, "loud", loud)] });
  const [deaf, hearing] = await Promise.all([connected(gateway), connected(gateway)]);
  deaf.ws.pause();
  for (let i = 0; i < 4; i++) await hearing.request(`e${i}`, "loud.say", { bytes: 4_000_000 });

  await gateway.gateway.close("gateway stopping");

  expect(hearing.frames.at(-1)).toMatchObject({ event: "shutdown" });
  expect(await hearing.end()).toEqual({ code: 1001, reason: "gateway stopping" });
  deaf.ws.terminate();
});

test("a second stop is the first one", async () => {
  gateway = await createTestGateway({ plugins: [] });
  const first = gateway.gateway.close("one");
  expect(gateway.gateway.close("two")).toBe(first);
  await first;
  expect(gateway.logs.filter((l) => l.message === "stopped")).toHaveLength(1);
});

test("the port, the lock and every file of the run are given back; the record of starts stays", async () => {
  gateway = await createTestGateway({ plugins: [] });
  await gateway.gateway.close("gateway stopping");
  await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  expect(await readdir(join(gateway.stateDir, "gateway"))).toEqual(["boots.json"]);
});

describe("plugins of a stopping gateway", () => {
  test("stop in reverse order of their start, each before its disposers run", async () => {
    const shared = sharedWithPlugins({ did: [] as string[] });
    const life = (id: string) => `
      ctx.onDispose(() => void shared.did.push("${id} disposed 1"));
      ctx.onDispose(() => void shared.did.push("${id} disposed 2"));
      return { start: () => void shared.did.push("${id} start"), stop: () => void shared.did.push("${id} stop") };`;
    const base = await writePlugin(root, "base", { setup: life("base") });
    const above = await writePlugin(root, "above", { setup: life("above"), manifest: { dependencies: { base: "^1.0.0" } } });
    gateway = await createTestGateway({ plugins: [above, base] });

    await gateway.gateway.close("gateway stopping");

    const undone = (id: string) => [`${id} stop`, `${id} disposed 2`, `${id} disposed 1`];
    expect(shared.did).toEqual(["base start", "above start", ...undone("above"), ...undone("base")]);
  });

  test("that hang or throw are logged and passed over; the others stop all the same", async () => {
    const shared = sharedWithPlugins({ did: [] as string[] });
    const plugins = await Promise.all([
      writePlugin(root, "good", { setup: `return { stop: () => void shared.did.push("good") };` }),
      writePlugin(root, "hangs", {
        setup: "return { stop: () => new Promise(() => undefined) };",
        manifest: { dependencies: { good: "^1.0.0" } },
      }),
      writePlugin(root, "throws", {
        setup: `ctx.onDispose(() => { throw new Error("undo failed"); }); return { stop: () => { throw new Error("stop failed"); } };`,
        manifest: { dependencies: { good: "^1.0.0" } },
      }),
    ]);
    gateway = await createTestGateway({
      plugins,
      config: { plugins: { entries: { hangs: { limits: { stopTimeoutMs: 100 } } } } },
    });

    await gateway.gateway.close("gateway stopping");

    expect(shared.did).toEqual(["good"]);
    const warnings = gateway.logs.filter((l) => l.level === "warn").map((l) => l.message);
    expect(warnings).toEqual(
      expect.arrayContaining([
        'plugin "hangs" did not stop cleanly: plugin "hangs": stop did not finish within 0.1 s; see svc plugins list',
        expect.stringMatching(/^plugin "throws" did not stop cleanly: .*stop failed$/),
        'plugin "throws" left behind: undo failed',
      ]),
    );
  });
});

test("a stop during the start begins nothing more, and takes back what is registered too late", async () => {
  const { opened, open } = gate();
  const shared = sharedWithPlugins({ opened, importing: false, imported: [] as string[], did: [] as string[] });
  const plugins = await Promise.all([
    writePlugin(root, "slow-import", {
      top: "shared.importing = true; await shared.opened;",
      setup: `shared.imported.push("setup"); return { start: () => void shared.imported.push("start") };`,
    }),
    writePlugin(root, "slow-setup", {
      setup: `
        ctx.onDispose(() => void shared.did.push("undone"));
        await shared.opened;
        for (const use of [
          () => ctx.onDispose(() => undefined),
          () => ctx.registerRpc({ method: "slow-setup.x", scope: "read", params: z.strictObject({}), handler: () => 1 }),
          () => ctx.timers.setInterval(() => shared.did.push("tick"), 1),
          () => ctx.timers.setTimeout(() => shared.did.push("timeout"), 1),
          () => ctx.emit("x", {}),
          () => ctx.service("gateway@1"),
        ]) {
          try { use(); shared.did.push("let through"); } catch (error) { shared.did.push(error.code); }
        }
        return { start: () => void shared.did.push("start") };`,
    }),
  ]);
  gateway = await createTestGateway({ plugins, stragglerMs: 50 });
  expect(shared.importing).toBe(true);

  await gateway.gateway.close("gateway stopping");
  open();

  const records = await eventually(() => {
    const slow = gateway?.gateway.plugins().filter((p) => p.id.startsWith("slow-")) ?? [];
    return slow.every((p) => p.state === "failed") && slow;
  });
  expect(shared.imported).toEqual([]);
  expect(shared.did).toEqual(["undone", ...Array(6).fill("plugin-disposed")]);
  expect(records.map((r) => r.reason)).toEqual(["the gateway is stopping", "the gateway is stopping"]);
  expect(gateway.logs.filter((l) => l.level === "error")).toEqual([]);
});
