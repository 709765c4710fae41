import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { gate, sharedWithPlugins, writePlugin } from "./_plugins.ts";
import { type BareSocket, challenged, connected, connectParams } from "./_ws.ts";

let root: string;
let gateway: TestGateway;
const shared = sharedWithPlugins({
  opened: Promise.resolve(),
  running: 0,
  ran: [] as string[],
  left: [] as string[],
  cyclic: undefined as unknown,
});
let open: () => void;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-limits-"));
  const folder = await writePlugin(root, "busy", {
    setup: `
      const params = z.strictObject({ tag: z.string().optional(), bytes: z.number().optional(), value: z.unknown().optional() });
      const add = (name, handler) => ctx.registerRpc({ method: "busy." + name, scope: "read", params, handler });
      add("wait", async ({ tag }, call) => {
        shared.running += 1;
        shared.ran.push(tag);
        await shared.opened;
        shared.running -= 1;
        return { tag };
      });
      ctx.registerRpc({ method: "agent.wait", scope: "write", params: z.unknown(), handler: async ({ runId }) => {
        shared.running += 1;
        await shared.opened;
        shared.running -= 1;
        return { runId, status: "timeout" };
      } });
      add("accepted", async ({ tag }, call) => {
        call.accept({ status: "accepted" });
        shared.ran.push(tag);
        await shared.opened;
        return { tag };
      });
      add("trace", (_, call) => ({ traceparent: call.traceparent ?? null }));
      add("echo", ({ value }) => ({ value: value ?? null }));
      add("large", ({ bytes }) => ({ text: "x".repeat(bytes) }));
      add("spin", () => { for (const end = performance.now() + 5; performance.now() < end; ); shared.ran.push("spin"); return {}; });
      add("throws-nothing", () => { throw undefined; });
      add("cyclic", () => { const a = {}; a.a = a; return a; });
      ctx.on("ws.disconnect", ({ client }) => void shared.left.push(client.instanceId));
      ctx.on("ws.connect", async ({ client }) => { if (client.instanceId === "waits") await shared.opened; });
      ctx.on("hello.snapshot", (event) => shared.cyclic ? { ...event, sessionDefaults: { odd: shared.cyclic } } : undefined);
      ctx.on("health.collect", (event, meta) => {
        for (const item of [null, "text", { part: "loop", ok: true, value: shared.cyclic }, { part: "ok", ok: true, value: "forged" }]) meta.report(item);
      });`,
  });
  reset();
  gateway = await createTestGateway({ plugins: [folder] });
});
afterAll(async () => {
  await gateway.close();
  await rm(root, { recursive: true, force: true });
});
beforeEach(() => reset());

function reset(): void {
  const made = gate();
  open = made.open;
  Object.assign(shared, { opened: made.opened, running: 0, ran: [], left: [], cyclic: undefined });
}

const backend = { id: "gateway-client", version: "1", platform: "x", mode: "backend" };
const ask = (socket: BareSocket, id: string, method: string, params: unknown = {}) => socket.send({ type: "req", id, method, params });

describe("of one connection's requests", () => {
  test("64 run, 256 wait in order, and the next is busy before it starts", async () => {
    const socket = await connected(gateway);
    for (let i = 0; i < 64 + 256 + 1; i++) ask(socket, `r${i}`, "busy.wait", { tag: String(i) });

    const refused = await socket.frame((f) => f.id === "r320");
    expect(refused).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", retryable: true, retryAfterMs: 1_000, details: { code: "BUSY" } },
    });
    expect(shared.running).toBe(64);

    open();
    await eventually(() => socket.frames.filter((f) => f.type === "res" && f.ok && f.payload.tag).length === 320);
    expect(shared.ran).toEqual(Array.from({ length: 320 }, (_, i) => String(i)));
    expect((await socket.request("after", "health")).ok).toBe(true);
    await socket.close();
  });

  test("those that were accepted count no more", async () => {
    const socket = await connected(gateway);
    for (let i = 0; i < 64; i++) ask(socket, `r${i}`, "busy.accepted", { tag: String(i) });
    await eventually(() => shared.ran.length === 64);

    expect((await socket.request("next", "health")).ok).toBe(true);

    open();
    const finals = () => socket.frames.filter((f) => f.id?.startsWith("r") && f.payload.tag);
    await eventually(() => finals().length === 64);
    await socket.close();
  });

  test("those that wait die with it", async () => {
    const socket = await connected(gateway, { client: { ...backend, instanceId: "leaves" } });
    for (let i = 0; i < 70; i++) ask(socket, `r${i}`, "busy.wait", { tag: String(i) });
    await eventually(() => shared.running === 64);
    socket.ws.terminate();
    await eventually(() => shared.left.includes("leaves"));

    open();
    await eventually(() => shared.running === 0);

    expect(shared.ran).toHaveLength(64);
  });
});

test("clients that wait for the end of runs, hundreds of times, take no place from others", async () => {
  const patient = await Promise.all(Array.from({ length: 8 }, () => connected(gateway)));
  for (const socket of patient) for (let i = 0; i < 64; i++) ask(socket, `r${i}`, "agent.wait", { runId: "r" });
  await eventually(() => shared.running === 512);
  const other = await connected(gateway);
  expect((await other.request("1", "health")).ok).toBe(true);
  open();
  await eventually(() => shared.running === 0);
  await Promise.all([...patient, other].map((s) => s.close()));
});

test("a client that asks for many slow things at once does not keep others waiting until it has all of them", async () => {
  const greedy = await connected(gateway);
  for (let i = 0; i < 200; i++) ask(greedy, `r${i}`, "busy.spin");
  await eventually(() => shared.ran.length > 0);
  expect((await gateway.fetch("/healthz")).status).toBe(200);
  const before = shared.ran.length;
  expect(before).toBeLessThan(200);
  await greedy.frame((f) => f.id === "r199");
  expect(shared.ran).toHaveLength(200);
  await greedy.close();
});

test("requests that wait for a place in the process die with their connection", async () => {
  const busy = await Promise.all(Array.from({ length: 8 }, () => connected(gateway)));
  for (const socket of busy) for (let i = 0; i < 64; i++) ask(socket, `r${i}`, "busy.wait", { tag: "busy" });
  await eventually(() => shared.running === 512);
  const late = await connected(gateway, { client: { ...backend, instanceId: "late" } });
  for (let i = 0; i < 3; i++) ask(late, `r${i}`, "busy.wait", { tag: "late" });
  const patient = await connected(gateway);
  ask(patient, "1", "busy.wait", { tag: "patient" });
  late.ws.terminate();
  await eventually(() => shared.left.includes("late"));
  expect(shared.running).toBe(512);

  open();

  expect((await patient.frame((f) => f.id === "1")).payload).toEqual({ tag: "patient" });
  await eventually(() => shared.running === 0);
  expect(shared.ran.filter((tag) => tag !== "busy")).toEqual(["patient"]);
  await Promise.all([...busy, patient].map((s) => s.close()));
});

test("requests that wait on a connection that is being closed are not begun", async () => {
  const socket = await connected(gateway, { client: { ...backend, instanceId: "cut" } });
  socket.ws.pause(); // so that it does not answer the close frame
  for (let i = 0; i < 70; i++) ask(socket, `r${i}`, "busy.wait", { tag: String(i) });
  await eventually(() => shared.running === 64);
  for (let i = 0; i < 20; i++) socket.send("{");
  for (const _ of [1, 2, 3]) await gateway.rpc("health");

  open();
  await eventually(() => shared.running === 0);

  expect(shared.ran).toHaveLength(64);
  expect(shared.left).toEqual([]);
  socket.ws.terminate();
  await eventually(() => shared.left.includes("cut"));
});

describe("a method that", () => {
  test("throws nothing at all has failed all the same", async () => {
    const socket = await connected(gateway);
    expect(await socket.request("1", "busy.throws-nothing")).toEqual({
      type: "res",
      id: "1",
      ok: false,
      error: { code: "UNAVAILABLE", message: "the method failed" },
    });
    await socket.close();
  });

  test("returns what has no JSON form has failed, and the connection lives", async () => {
    const socket = await connected(gateway);
    expect((await socket.request("1", "busy.cyclic")).error.code).toBe("UNAVAILABLE");
    expect((await socket.request("2", "health")).ok).toBe(true);
    await socket.close();
  });
});

describe("a frame", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const frame = (value: string) => `{"type":"req","id":"1","method":"busy.echo","params":{"value":${value}}}`;
  const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(",")}}`;

  test.each<[string, () => string, string | undefined]>([
    ["of 64 levels", () => frame(nested(62)), undefined],
    ["of 65 levels", () => frame(nested(63)), "deeper than 64 levels"],
    ["nested 100,000 deep", () => frame(nested(100_000)), "deeper than 64 levels"],
    ["with 9,995 keys", () => frame(keys(9_995)), undefined],
    ["with 10,001 keys", () => frame(keys(10_001)), "more than 10000 keys"],
    ["with 300,000 keys", () => frame(keys(300_000)), "more than 10000 keys"],
  ])("%s is answered, and never crashes anything", async (_, text, fault) => {
    const socket = await connected(gateway);
    socket.send(text());
    const res = await socket.frame((f) => f.id === "1");
    expect(res.ok).toBe(fault === undefined);
    if (fault !== undefined) expect(res.error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining(fault) });
    await socket.close();
  });

  test("cannot poison objects by its keys", async () => {
    const socket = await connected(gateway);
    socket.send(frame('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
    await socket.frame((f) => f.id === "1");
    socket.send('{"__proto__":{"polluted":1},"type":"req","id":"2","method":"health","params":{"__proto__":{"polluted":1}}}');
    await socket.frame((f) => f.id === "2");
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    await socket.close();
  });

  test("of a key that stands twice means the last one, for the check and for the use", async () => {
    const socket = await challenged(gateway);
    const params = JSON.stringify(connectParams(gateway.token));
    socket.send(`{"type":"req","id":"1","method":"connect","params":${params.slice(0, -1)},"auth":{"token":"wrong"}}}`);
    expect((await socket.frame((f) => f.id === "1")).error.details.code).toBe("AUTH_TOKEN_MISMATCH");
  });

  test("that is no UTF-8 closes with 1007", async () => {
    const socket = await connected(gateway);
    socket.ws.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
    expect((await socket.end()).code).toBe(1007);
  });

  test("behind the last bad one that is allowed is not looked at", async () => {
    const socket = await connected(gateway);
    for (let i = 0; i < 20; i++) socket.send("{");
    ask(socket, "late", "busy.wait", { tag: "late" });
    expect((await socket.end()).code).toBe(1008);
    expect(shared.ran).toEqual([]);
  });
});

test("random frames are each answered or closed for, and the gateway goes on", async () => {
  const seed = 20_261_121;
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const values = [null, true, 0, -1, 1e308, "", "x", "\ud800", "\u0000", [], {}, [[]], { a: {} }, "__proto__", "health", "connect"];
  const names = ["type", "id", "method", "params", "event", "ok", "__proto__", "traceparent"];
  const methods = ["health", "status", "config.get", "plugins.list", "system-presence", "busy.echo", "nowhere", "connect", ""];
  const odd = () => {
    if (random(4) === 0) return pick(["", "{", "[]", "null", '"req"', "\u0000", "{}", '{"type":"req"}']);
    const made: Record<string, unknown> = {
      type: "req",
      id: String(random(10)),
      method: pick(methods),
      params: { [pick(names)]: pick(values) },
    };
    if (random(2) === 0) made[pick(names)] = pick(values);
    return JSON.stringify(made);
  };

  for (let round = 0; round < 20; round++) {
    const socket = round % 4 === 0 ? await challenged(gateway) : await connected(gateway);
    const sent = Array.from({ length: 15 }, odd);
    for (const text of sent) socket.send(text);
    if (round % 4 === 0) await socket.end();
    else {
      await eventually(() => socket.closed || socket.frames.filter((f) => f.type === "res").length >= 1 + sent.length);
      await socket.close();
    }
  }

  expect((await gateway.rpc("health")).ok).toBe(true);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
});

test("500 sockets that say nothing keep nobody out, and few of them stay", async () => {
  const silent = await Promise.all(Array.from({ length: 500 }, () => challenged(gateway).catch(() => undefined)));
  const client = await connected(gateway);
  expect(client.hello.type).toBe("hello-ok");
  await eventually(() => silent.filter((s) => s && !s.closed).length <= 32);
  await client.close();
  await Promise.all(silent.map((s) => s?.close()));
});

test("a client that asks on and reads no answers is cut", async () => {
  const socket = await connected(gateway, { client: { ...backend, instanceId: "greedy" } });
  socket.ws.pause();
  for (let i = 0; i < 25; i++) ask(socket, `r${i}`, "busy.large", { bytes: 3_000_000 });
  await eventually(async () => {
    ask(socket, "more", "health");
    return shared.left.includes("greedy");
  });
  socket.ws.terminate();
});

test("requests that wait for a place in the process leave it to others when their connection goes", async () => {
  const busy = await Promise.all(Array.from({ length: 8 }, () => connected(gateway)));
  for (const socket of busy) for (let i = 0; i < 64; i++) ask(socket, `r${i}`, "busy.wait", { tag: "busy" });
  await eventually(() => shared.running === 512);
  const waiting = await Promise.all(Array.from({ length: 4 }, () => connected(gateway, { client: { ...backend, instanceId: "gone" } })));
  for (const socket of waiting) for (let i = 0; i < 64; i++) ask(socket, `r${i}`, "busy.wait", { tag: "gone" });
  const patient = await connected(gateway);
  await eventually(async () => (await patient.request(String(Math.random()), "health")).error?.details.code === "BUSY");

  for (const socket of waiting) socket.ws.terminate();
  await eventually(() => shared.left.filter((id) => id === "gone").length === 4);
  ask(patient, "mine", "busy.wait", { tag: "mine" });
  patient.send("{");
  await patient.frame((f) => f.id === "invalid"); // by now "mine" has a place in the queue, or was turned away
  expect(patient.frames.some((f) => f.id === "mine")).toBe(false);
  open();

  expect((await patient.frame((f) => f.id === "mine")).payload).toEqual({ tag: "mine" });
  expect(shared.ran).not.toContain("gone");
  await Promise.all([...busy, patient].map((s) => s.close()));
});

test("requests that wait for a place in the process are not begun once their connection is being closed", async () => {
  const busy = await Promise.all(Array.from({ length: 8 }, () => connected(gateway)));
  for (const socket of busy) for (let i = 0; i < 64; i++) ask(socket, `r${i}`, "busy.wait", { tag: "busy" });
  await eventually(() => shared.running === 512);
  const [cut, witness] = [await connected(gateway), await connected(gateway)];
  cut.ws.pause(); // so that it does not answer the close frame
  for (let i = 0; i < 3; i++) ask(cut, `r${i}`, "busy.wait", { tag: "cut" });
  for (let i = 0; i < 20; i++) cut.send("{");
  for (const id of ["a", "b", "c"]) {
    witness.send({ type: "req", id });
    await witness.frame((f) => f.id === id);
  }
  ask(witness, "last", "busy.wait", { tag: "last" });

  open();

  expect((await witness.frame((f) => f.id === "last")).payload).toEqual({ tag: "last" });
  expect(shared.ran).not.toContain("cut");
  cut.ws.terminate();
  await Promise.all([...busy, witness].map((s) => s.close()));
});

describe("requests pipelined behind a connect", () => {
  test("wait for hello-ok and run in order, whatever is read in one piece", async () => {
    const socket = await challenged(gateway);
    ask(socket, "c", "connect", connectParams(gateway.token));
    for (let i = 0; i < 20; i++) ask(socket, `p${i}`, "busy.echo", { value: i });
    await eventually(() => socket.frames.filter((f) => f.type === "res").length === 21);
    expect(socket.frames.filter((f) => f.type === "res").map((f) => f.id)).toEqual(["c", ...Array.from({ length: 20 }, (_, i) => `p${i}`)]);
    await socket.close();
  });

  test("that is refused late never run", async () => {
    const guest = await challenged(gateway);
    ask(guest, "c", "connect", connectParams("wrong", { client: { ...backend, instanceId: "waits" } }));
    for (let i = 0; i < 20; i++) ask(guest, `p${i}`, "busy.wait", { tag: "never" });
    open();
    await guest.end();
    expect(guest.frames.filter((f) => f.type === "res").map((f) => f.id)).toEqual(["c"]);
    expect(shared.ran).toEqual([]);
  });
});

test("a trace context reaches the method when it is well-formed, and is ignored when it is not", async () => {
  const socket = await connected(gateway);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  socket.send({ type: "req", id: "1", method: "busy.trace", traceparent });
  socket.send({ type: "req", id: "2", method: "busy.trace", traceparent: "not one" });
  expect((await socket.frame((f) => f.id === "1")).payload).toEqual({ traceparent });
  expect((await socket.frame((f) => f.id === "2")).payload).toEqual({ traceparent: null });
  socket.send({ type: "req", id: "3", method: "busy.trace", traceparent: "x".repeat(129) });
  expect((await socket.frame((f) => f.id === "3")).error.code).toBe("INVALID_REQUEST");
  await socket.close();
});

test("a client that leaves while it is being admitted leaves no trace", async () => {
  const guest = await challenged(gateway);
  const client = { id: "test", mode: "test", version: "1", platform: "x", instanceId: "waits", displayName: "ghost" };
  ask(guest, "1", "connect", connectParams(gateway.token, { client }));
  const watcher = await connected(gateway);
  guest.ws.terminate();
  await guest.end();
  for (const id of ["a", "b", "c"]) await watcher.request(id, "health"); // the gateway has seen the end by now
  open();

  await eventually(() => shared.left.includes("waits"));
  expect((await watcher.request("d", "system-presence")).payload).toHaveLength(1);
  await watcher.close();
});

describe("a plugin that hands over what cannot be sent", () => {
  test("to health spoils its own part only", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    shared.cyclic = cyclic;
    const health = await gateway.rpc("health", { probe: true });
    expect(health).toMatchObject({ ok: true, phase: "ready", problems: { loop: expect.stringContaining("its value cannot be sent") } });
  });

  test("to hello-ok ends that handshake with 1011 and no word about why", async () => {
    shared.cyclic = 1n;
    const socket = await challenged(gateway);
    ask(socket, "1", "connect", connectParams(gateway.token));
    expect(await socket.end()).toEqual({ code: 1011, reason: "internal error" });
    expect(socket.frames).toHaveLength(1);
    expect(gateway.logs.at(-1)).toMatchObject({ level: "error", message: "a handshake failed" });
  });
});
