import { setTimeout as sleep } from "node:timers/promises";
import { definePlugin, type ModelDelta, z } from "svc/sdk";
import { createTestGateway, eventually, expectNoLeaks, fakeClock, fakeModel, recordHttp, watchLeaks } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";

describe("fakeClock", () => {
  test("moves when it is told to, and runs what falls due in order", async () => {
    const clock = fakeClock(1_000);
    const ran: string[] = [];
    clock.setTimeout(() => ran.push(`late at ${clock.monotonic()}`), 200);
    clock.setTimeout(() => ran.push(`early at ${clock.monotonic()}`), 100);
    const every = clock.setInterval(() => ran.push(`tick at ${clock.monotonic()}`), 90);

    await clock.advance(199);
    expect(ran).toEqual(["tick at 90", "early at 100", "tick at 180"]);
    expect(clock.waiting).toEqual([1, 71]);

    every.dispose();
    await clock.advance(1);
    expect(ran.at(-1)).toBe("late at 200");
    expect([clock.now(), clock.waiting]).toEqual([1_200, []]);
  });

  test("runs what a promise sets meanwhile", async () => {
    const clock = fakeClock();
    const ran: number[] = [];
    const again = () => {
      ran.push(clock.monotonic());
      void Promise.resolve().then(() => clock.setTimeout(again, 10));
    };
    clock.setTimeout(again, 10);

    await clock.advance(35);

    expect(ran).toEqual([10, 20, 30]);
  });
});

describe("fakeModel", () => {
  const collect = async (model: ReturnType<typeof fakeModel>, signal = new AbortController().signal) => {
    const deltas: ModelDelta[] = [];
    const context = { agentId: "main", sessionKey: "agent:main:main", runId: "r1" };
    const request = { model: "script", system: "", messages: [], tools: [], context };
    for await (const delta of model.stream(request, { signal })) deltas.push(delta);
    return deltas;
  };

  test("answers turn by turn and keeps the requests", async () => {
    const model = fakeModel([{ toolCalls: [{ name: "look", args: { at: 1 } }] }, (req) => `asked for ${req.model}`]);

    expect(await collect(model)).toMatchObject([
      { type: "toolCall", name: "look", argsDelta: '{"at":1}' },
      { type: "toolCallEnd" },
      { type: "usage" },
      { type: "finish", reason: "tool_calls" },
    ]);
    expect((await collect(model)).map((d) => (d.type === "text" ? d.delta : "")).join("")).toBe("asked for script");
    expect(model.requests).toHaveLength(2);
  });

  test("fails when the script is over, with the fault of a turn, and when it is aborted", async () => {
    await expect(collect(fakeModel([]))).rejects.toMatchObject({ name: "ModelError", fault: "invalid_request" });
    await expect(collect(fakeModel([{ fault: "rate_limit", retryAfterMs: 5 }]))).rejects.toMatchObject({
      fault: "rate_limit",
      retryAfterMs: 5,
    });
    await expect(collect(fakeModel([{ hang: true }]), AbortSignal.timeout(20))).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("recordHttp", () => {
  test("answers from the script, in order, and keeps what was sent", async () => {
    const http = recordHttp({ "POST https://example.org/a": [{ status: 503 }, { json: { ok: true }, headers: { "x-n": "2" } }] });

    expect((await http.fetch("https://example.org/a", { method: "POST", body: "one" })).status).toBe(503);
    const second = await http.fetch(new URL("https://example.org/a"), { method: "POST", headers: { "X-Key": "k" } });
    expect([second.headers.get("x-n"), await second.json()]).toEqual(["2", { ok: true }]);
    expect((await http.fetch("https://example.org/a", { method: "POST" })).status).toBe(200);
    expect(http.requests[0]).toMatchObject({ method: "POST", url: "https://example.org/a", body: "one" });
    expect(http.requests[1]?.headers).toMatchObject({ "x-key": "k" });
  });

  test("answers ctx.request from the same script", async () => {
    const http = recordHttp({ "POST https://example.org/a": { status: 201, json: { ok: true } } });
    const body = {
      bytes: 2,
      chunks: (async function* () {
        yield Buffer.from("ab");
      })(),
    };
    const {
      status,
      headers,
      body: answer,
    } = await http.request("https://example.org/a", { method: "POST", headers: { "X-Key": "k" }, body });
    expect([status, headers["content-type"], (await answer.toArray()).join("")]).toEqual([201, "application/json", '{"ok":true}']);
    expect(http.requests).toMatchObject([{ method: "POST", url: "https://example.org/a", body: "ab", headers: { "x-key": "k" } }]);
  });

  test("refuses what nobody scripted, and fails as a network does", async () => {
    const http = recordHttp({ "GET https://example.org/down": { error: "ECONNREFUSED" } });

    await expect(http.fetch("https://example.org/other")).rejects.toThrow("the script has no answer for GET https://example.org/other");
    await expect(http.fetch("https://example.org/down")).rejects.toThrow("ECONNREFUSED");
    await expect(http.fetch("https://example.org/down", { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("createTestGateway", () => {
  expectNoLeaks();

  const empty = z.object({});
  const remote = definePlugin<unknown>({
    id: "remote",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      let ticks = 0;
      ctx.timers.setInterval(() => ctx.emit("ticked", { ticks: ++ticks, now: ctx.clock.now() }, { scope: "read" }), 60_000);
      ctx.registerRpc({
        method: "remote.get",
        scope: "read",
        params: empty,
        handler: async () => (await ctx.fetch("https://example.org/x")).json(),
      });
    },
  });

  test("runs definitions of the test, with its clock, its network and its models", async () => {
    const clock = fakeClock();
    const http = recordHttp({ "GET https://example.org/x": { json: { answer: 42 } } });
    const model = fakeModel(["Good morning."]);
    const gateway = await createTestGateway({ plugins: ["store", "agents", remote], models: [model], clock, http });
    const socket = await gateway.ws();

    expect(await gateway.rpc("remote.get")).toEqual({ answer: 42 });
    expect(http.requests[0]?.headers["user-agent"]).toContain("remote");

    await clock.advance(120_000);
    expect(await socket.event("plugin.remote.ticked", ({ ticks }) => ticks === 2)).toMatchObject({ now: clock.now() });

    const reply = await gateway.rpc<{ runId: string }>("chat.send", { sessionKey: "main", message: "Hello", idempotencyKey: "k1" });
    expect(reply.runId).toEqual(expect.any(String));
    await eventually(() => model.requests.length === 1);
    await gateway.close();
  });

  test("takes a new config while it runs", async () => {
    const gateway = await createTestGateway({ plugins: [remote] });

    const outcome = await gateway.reload({ logging: { level: "debug" } });

    expect(outcome).toMatchObject({ status: "applied", changedPaths: ["logging.level"] });
    await gateway.close();
  });
});

describe("watchLeaks", () => {
  test("names what was left open, and where it was opened", async () => {
    const watch = watchLeaks();
    const timer = setTimeout(() => undefined, 60_000);

    expect(await watch.left()).toEqual([expect.stringMatching(/^Timeout \(at .*fakes\.test\.ts/)]);
    await expect(watch.assertNone(50)).rejects.toThrow("left open: Timeout");
    clearTimeout(timer);
  });

  test("names the caller of a pause, not what the runtime makes of it", async () => {
    const watch = watchLeaks();
    const stop = new AbortController();
    const paused = sleep(60_000, undefined, { signal: stop.signal });

    expect(await watch.left()).toEqual([expect.stringMatching(/^Timeout \(at .*fakes\.test\.ts/)]);
    stop.abort();
    await expect(paused).rejects.toThrow();
    await watch.assertNone();
  });

  test("sees a gateway that nobody closed, with its folder", async () => {
    const watch = watchLeaks();
    const gateway = await createTestGateway({ plugins: [] });

    expect(await watch.left()).toEqual(
      expect.arrayContaining([`gateway of ${gateway.stateDir}`, expect.stringMatching(/^folder svc-test-/)]),
    );
    await gateway.close();
    await watch.assertNone();
  });

  test("does not count what was there before, or what does not keep the process alive", async () => {
    const before = setTimeout(() => undefined, 60_000);
    const watch = watchLeaks();
    setTimeout(() => undefined, 60_000).unref();

    expect(await watch.left()).toEqual([]);
    watch.dispose();
    clearTimeout(before);
  });
});

describe("expectNoLeaks", () => {
  expectNoLeaks();

  test("lets a test pass that cleans up", async () => {
    const gateway = await createTestGateway({ plugins: [] });
    await gateway.close();
  });
});
