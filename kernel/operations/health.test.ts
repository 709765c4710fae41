import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HealthPart } from "../../sdk/hooks.ts";
import type { ClientInfo, OperatorScope } from "../../sdk/types/rpc.ts";
import { createHealth, type Health } from "./health.ts";

let health: Health | undefined;
afterEach(() => health?.dispose());

function client(scope: OperatorScope, role: ClientInfo["role"] = "operator"): ClientInfo {
  return { connId: "c", clientId: "test", mode: "test", role, scopes: [scope], caps: [], remote: "127.0.0.1" };
}

function setup(report: () => HealthPart[] = () => []) {
  const time = { now: 1_000_000 };
  const seen = { collected: 0, deep: [] as boolean[], published: [] as Array<Record<string, unknown>>, faults: [] as string[] };
  const admin = client("operator.admin");
  const made = createHealth({
    async collect(deep) {
      seen.collected += 1;
      seen.deep.push(deep);
      return report();
    },
    now: () => time.now,
    monotonic: () => time.now,
    eventLoop: () => ({ delayP99Ms: 20 }),
    base: () => ({ uptimeMs: time.now, phase: "ready" }),
    publish: (text, only) => {
      if (only(admin)) seen.published.push(JSON.parse(text));
    },
    onFault: (error) => seen.faults.push(String(error)),
  });
  health = made;
  return { health: made, time, seen };
}

describe("the snapshot is collected", () => {
  test("once for many who ask at the same time, and kept for a minute", async () => {
    const { health, time, seen } = setup();
    const [a, b] = await Promise.all([health.text(), health.text()]);
    expect(a).toBe(b);
    time.now += 60_000;
    await health.text();
    expect(seen.collected).toBe(1);
    time.now += 1;
    await health.text();
    expect(seen.collected).toBe(2);
  });

  test("anew when somebody says that it is stale, but not more than once a second", async () => {
    const { health, time, seen } = setup();
    await health.text();
    health.invalidate();
    time.now += 1_000;
    await health.text();
    expect(seen.collected).toBe(1);
    time.now += 1;
    await health.text();
    expect(seen.collected).toBe(2);
  });

  test("anew when something became stale while it was collected", async () => {
    let during = () => undefined as void;
    const { health, time, seen } = setup(() => {
      during();
      return [];
    });
    during = health.invalidate;
    await health.text();
    during = () => undefined;
    time.now += 1_001;
    await health.text();
    expect(seen.collected).toBe(2);
  });

  test("in depth for a probe also when another collection is under way", async () => {
    const { health, seen } = setup();
    await Promise.all([health.text(), health.text({ probe: true }), health.text({ probe: true })]);
    expect(seen.deep).toEqual([false, true]);
  });

  test("anew and in depth for a probe", async () => {
    const { health, seen } = setup();
    await health.text();
    await health.text({ probe: true });
    expect(seen.deep).toEqual([false, true]);
  });
});

test("it is JSON with the parts, the figures of the process and what fails", async () => {
  const { health } = setup(() => [
    { part: "store", ok: true, critical: true, value: { queued: 0 } },
    { part: "disk", ok: false, critical: true, message: "full" },
  ]);
  const value = JSON.parse(await health.text());
  expect(value).toMatchObject({
    ok: false,
    phase: "ready",
    store: { queued: 0 },
    problems: { disk: "full" },
    eventLoop: { delayP99Ms: 20 },
    memory: { rssBytes: expect.any(Number), heapUsedBytes: expect.any(Number) },
  });
  expect(await health.value()).toMatchObject({ health: { ok: false, store: { queued: 0 }, memory: expect.anything() }, status: {} });
  expect(health.failing()).toEqual(["disk"]);
});

test("its version counts changes, and time alone is none", async () => {
  let queued = 0;
  const { health, time, seen } = setup(() => [{ part: "store", ok: true, value: { queued } }]);
  await health.text({ probe: true });
  const first = health.version();
  time.now += 5_000;
  await health.text({ probe: true });
  expect([health.version(), seen.published.length]).toEqual([first, 1]);

  queued = 1;
  await health.text({ probe: true });
  expect([health.version(), seen.published.length]).toEqual([first + 1, 2]);
});

test("paths of files are for administrators, in the answer as in the event; what is for status alone is in neither", async () => {
  const texts: Array<[string, (client: ClientInfo) => boolean]> = [];
  const made = createHealth({
    collect: async () => [
      { part: "sessions", ok: true, value: { path: "/var/svc/state.sqlite", count: 1, recent: [] } },
      { part: "agents", ok: true, value: [{ agentId: "main", sessions: { path: "/var/svc/state.sqlite", count: 1 } }] },
      { part: "store", ok: true, value: { damaged: "/var/svc/state.sqlite.corrupt.1" } },
      { part: "configReload", ok: true, value: { issues: [{ path: "gateway.port" }] } },
      { part: "queuedSystemEvents", ok: true, only: "status", value: ["a secret matter"] },
      { part: "queuedSystemEvents", ok: true, only: "status", value: "of somebody who came later" },
    ],
    now: () => 1,
    monotonic: () => 1,
    eventLoop: () => ({ delayP99Ms: 20 }),
    base: () => ({}),
    publish: (text, only) => texts.push([text, only]),
    onFault: () => undefined,
  });
  health = made;
  const [full, open] = [await made.text({ paths: true }), await made.text()];
  expect(full).toContain("/var/svc/state.sqlite.corrupt.1");
  expect(open).not.toContain("/var/svc");
  expect(JSON.parse(open)).toMatchObject({ sessions: { count: 1 }, configReload: { issues: [{ path: "gateway.port" }] } });
  expect(full + open).not.toContain("queuedSystemEvents");
  expect((await made.value()).status).toEqual({ queuedSystemEvents: ["a secret matter"] });
  const received = (who: ClientInfo) => texts.filter(([, only]) => only(who)).map(([text]) => text.includes("/var/svc"));
  expect([received(client("operator.admin")), received(client("operator.read"))]).toEqual([[true], [false]]);
});

describe("a refresh", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("tells of a change without being asked, once for many, a second after the last collection", async () => {
    let n = 0;
    const { health, seen } = setup(() => [{ part: "a", ok: true, value: n }]);
    await health.text();
    n = 1;
    health.refresh();
    health.refresh();
    await vi.advanceTimersByTimeAsync(999);
    expect([seen.collected, seen.published.length]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect([seen.collected, seen.published.map((payload) => payload.a)]).toEqual([2, [0, 1]]);
  });

  test("tells everybody also when nothing changed, under the same version", async () => {
    const { health, time, seen } = setup();
    await health.text();
    const version = health.version();
    time.now += 60_000;
    health.refresh();
    await vi.advanceTimersByTimeAsync(0);
    expect([seen.published.length, seen.published[1]?.ts, health.version()]).toEqual([2, time.now, version]);
  });

  test("that fails is reported, and the next one is tried", async () => {
    const { health, seen } = setup(() => {
      throw new Error("no");
    });
    health.refresh();
    await vi.advanceTimersByTimeAsync(0);
    health.refresh();
    await vi.advanceTimersByTimeAsync(0);
    expect(seen.faults).toEqual(["Error: no", "Error: no"]);
  });

  test("is off after the end", async () => {
    const { health, seen } = setup();
    health.refresh();
    health.dispose();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen.collected).toBe(0);
  });
});
