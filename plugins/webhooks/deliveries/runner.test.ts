import { SvcError } from "svc/sdk";
import { deliveryOwner } from "svc/sdk/internal";
import { eventually, fakeClock, fakeModel } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { gatedModel, lastUserText } from "../../../test/fixtures/gated-model.ts";
import { holdNext } from "../../../test/fixtures/held-read.ts";
import { accepted, agentAction, deliveriesGateway, ended, holdAt, mainKey } from "../../../test/fixtures/hook-deliveries.ts";

const HOUR = 3_600_000;

describe("order", () => {
  test("one lane is carried out in the order of acceptance, lanes beside each other, two hook runs at a time", async () => {
    const model = gatedModel();
    const gateway = await deliveriesGateway({ models: [model] });
    const lane = { sessionKey: "agent:main:hook:one", sessionMode: "persistent" as const };
    const ids: string[] = [];
    const waiting = () => model.waiting().toSorted();
    for (const message of ["a1", "a2", "a3"]) ids.push(await accepted(gateway, { ...lane, message }));
    ids.push(await accepted(gateway, { message: "b" }));

    await eventually(() => expect(waiting()).toEqual(["a1", "b"]));
    const third = await accepted(gateway, { message: "c" });
    ids.push(third);
    await eventually(async () => expect((await gateway.row(third))?.state).toBe("running"));
    expect(waiting()).toEqual(["a1", "b"]);
    model.release("b");
    await eventually(() => expect(waiting()).toEqual(["a1", "c"]));
    expect(await gateway.row(ids[1] ?? "")).toMatchObject({ state: "accepted", attempt: 0 });
    model.release();
    await eventually(() => expect(model.waiting()).toEqual(["a2"]));
    model.release();
    await eventually(() => expect(model.waiting()).toEqual(["a3"]));
    model.release();

    for (const id of ids) expect(await ended(gateway, id)).toMatchObject({ status: "ok" });
    expect(await gateway.said("agent:main:hook:one")).toEqual(["answer to a1", "answer to a2", "answer to a3"]);
  });

  test("a session at work makes the action wait, and nothing is refused", async () => {
    const model = gatedModel();
    const gateway = await deliveriesGateway({ models: [model] });
    const person = { message: "hello", sessionKey: "busy", trigger: "user" as const, actor: { kind: "internal" as const, scopes: [] } };
    await gateway.service("agents@1").run(person);
    const runId = await accepted(gateway, { sessionKey: "agent:main:busy", sessionMode: "persistent", message: "from a hook" });

    await eventually(async () => expect((await gateway.row(runId))?.state).toBe("running"));
    await eventually(() => expect(model.waiting()).toEqual(["hello"]) ?? true);
    model.release();
    await eventually(() => expect(model.waiting()).toEqual(["from a hook"]));
    model.release();
    expect(await ended(gateway, runId)).toMatchObject({ status: "ok" });
    expect((await gateway.row(runId))?.attempt).toBe(1);
  });
});

describe("the same key", () => {
  test("eight times at once is one row and one run; afterwards, and in another process, it is the same answer", async () => {
    const model = fakeModel(["once"]);
    const gateway = await deliveriesGateway({ models: [model] });
    const action = agentAction();
    const submission = { action, idempotency: { scope: "token /agent", key: "k" } };

    const answers = (await Promise.all(Array.from({ length: 8 }, () => gateway.deliveries().accept([submission])))).flat();
    const runId = answers[0]?.kind === "agent" ? answers[0].runId : "";
    expect(new Set(answers.map((a) => a.kind === "agent" && a.runId))).toEqual(new Set([runId]));
    expect(answers.filter((a) => a.kind === "agent" && !a.isReplay)).toHaveLength(1);
    const completion = await ended(gateway, runId);

    expect(await gateway.deliveries().accept([submission])).toEqual([{ kind: "agent", runId, isReplay: true }]);
    await gateway.close({ keepState: true });
    const later = await deliveriesGateway({ models: [model], stateDir: gateway.stateDir });
    expect(await later.deliveries().accept([submission])).toEqual([{ kind: "agent", runId, isReplay: true }]);
    expect(await ended(later, runId)).toEqual(completion);
    const other = { action: { ...action, message: "else", fingerprint: "other" }, idempotency: submission.idempotency };
    expect(await later.deliveries().accept([other])).toMatchObject([{ isReplay: false }]);
    expect(await later.service("store@2").deliveries.list({ limit: 10 })).toHaveLength(2);
  });
});

describe("an action that cannot be done now", () => {
  test("is tried three times, 5 s and 60 s apart, then it fails with a note; an operator can have it run again", async () => {
    const clock = fakeClock();
    const fault = { fault: "auth" as const };
    const model = fakeModel([fault, "meanwhile", fault, "meanwhile", fault, "at last"]);
    const gateway = await deliveriesGateway({ models: [model], clock });
    const runId = await accepted(gateway, { name: "CI", message: "push", sessionKey: "agent:main:hook:ci" });

    const requeued = (attempt: number) =>
      eventually(async () => expect(await gateway.row(runId)).toMatchObject({ state: "accepted", attempt }));
    /** Another action goes all the way: whatever was due has begun by then. */
    const stillAsked = async (times: number) => {
      await ended(gateway, await accepted(gateway));
      expect(model.requests).toHaveLength(times);
    };
    await requeued(1);
    await clock.advance(4_999);
    await stillAsked(2);
    await clock.advance(1);
    await requeued(2);
    await clock.advance(59_999);
    await stillAsked(4);
    await clock.advance(1);
    expect(await ended(gateway, runId)).toEqual({ status: "error", replyDisposition: "empty" });

    expect(await gateway.row(runId)).toMatchObject({ state: "failed", attempt: 3, payload: { v: 1 } });
    expect(await gateway.said()).toEqual([
      expect.stringMatching(`^Hook CI failed: .+\\(svc hooks retry ${runId} runs it again within 7 days\\)$`),
    ]);
    expect((await gateway.events()).at(-1)).toMatch(/^Hook CI \(error\): the script fails turn 5/);
    expect(model.requests.map(lastUserText).filter((text) => text === "push")).toHaveLength(3);
    await expect(gateway.deliveries().drop(runId)).rejects.toMatchObject({ code: "delivery-state" });

    await gateway.deliveries().retry(runId);
    expect(await ended(gateway, runId)).toEqual({ status: "ok", replyDisposition: "visible" });
    expect(await gateway.said("agent:main:hook:ci")).toEqual(["at last"]);
    expect(await gateway.row(runId)).toMatchObject({ state: "done", steps: { run: { runId: `${runId}:4` } } });
    await expect(gateway.deliveries().retry(runId)).rejects.toMatchObject({ code: "delivery-state" });
    await expect(gateway.deliveries().retry("nobody")).rejects.toMatchObject({ code: "unknown-delivery" });
  });

  test("fails at once when no try can help: a tool was called, the model is gone, the row cannot be read", async () => {
    const model = fakeModel([{ toolCalls: [{ name: "nothing", args: {} }] }, { fault: "auth" }]);
    const gateway = await deliveriesGateway({ models: [model] });

    const acted = await accepted(gateway, { name: "Acted" });
    expect(await ended(gateway, acted)).toMatchObject({ status: "error" });
    const gone = await accepted(gateway, { name: "Gone", model: "fake/other-than-any" });
    expect(await ended(gateway, gone)).toMatchObject({ status: "error" });
    expect([await gateway.row(acted), await gateway.row(gone)]).toMatchObject([
      { state: "failed", attempt: 1 },
      { state: "failed", attempt: 1 },
    ]);

    const store = gateway.service("store@2");
    const delivery = { uid: "odd", dir: "hook-agent" as const, lane: "agent:main:odd", payload: { v: 7 }, expiresAt: Date.now() + HOUR };
    await store.commit([{ op: "delivery.accept", delivery, at: Date.now() }]);
    const after = await accepted(gateway, { name: "After", model: "fake/other-than-any" });
    await ended(gateway, after);
    await eventually(async () =>
      expect(await gateway.row("odd")).toMatchObject({ state: "failed", result: { reason: "what is stored of it cannot be read" } }),
    );
    expect((await gateway.said()).map((text) => text.split(":")[0])).toEqual(
      expect.arrayContaining(["Hook Acted failed", "Hook Gone failed", "Hook without a readable payload failed", "Hook After failed"]),
    );
  });

  test("is left to the instance that has put it back meanwhile, and no note says that it failed", async () => {
    const pass = holdAt("hooks.before-run");
    const gateway = await deliveriesGateway({ models: [fakeModel([])], logLevel: "debug" });
    const uid = await accepted(gateway, { name: "Gone", model: "fake/other-than-any" });
    const claimed = await eventually(async () => {
      const row = await gateway.row(uid);
      return row?.state === "running" ? row : undefined;
    });
    const put = { from: ["running"], ...deliveryOwner(claimed), notBefore: Date.now() + HOUR, at: Date.now() } as const;
    await gateway.service("store@2").commit([{ op: "delivery.requeue", uid, ...put }]);
    pass();

    await eventually(() => gateway.logs.some(({ message }) => message === "a hook delivery was taken over by another worker"));
    expect(await gateway.row(uid)).toMatchObject({ state: "accepted", attempt: 1 });
    expect(await gateway.said()).toEqual([]);
  });

  test("ends with the run when that is the run's own end: done, and the summary says that it went wrong", async () => {
    const gateway = await deliveriesGateway({ models: [fakeModel([""])] });
    const runId = await accepted(gateway, { name: "Mute", deliver: true });

    expect(await ended(gateway, runId)).toEqual({ status: "error", replyDisposition: "empty" });
    expect(await gateway.row(runId)).toMatchObject({ state: "done", result: { status: "error", code: "EMPTY_RESPONSE" } });
    expect(await gateway.events()).toEqual(["Hook Mute (error): the model answered with nothing; try again or choose another model"]);
    expect(await gateway.said()).toEqual([]);
    expect(gateway.logs.find((l) => l.message === `hook agent run completed runId=${runId} status=error`)).toMatchObject({ level: "warn" });
  });
});

describe("an action that waits", () => {
  test("expires after 24 h with a note, but not by a jump of the clock; the one that an operator drops ends at once", async () => {
    const clock = fakeClock();
    const model = gatedModel();
    const gateway = await deliveriesGateway({ models: [model], clock });
    const lane = { sessionKey: "agent:main:hook:slow", timeoutMs: 48 * HOUR };
    await accepted(gateway, { ...lane, message: "first" });
    await eventually(() => expect(model.waiting()).toEqual(["first"]));
    const dropped = await accepted(gateway, { ...lane, name: "Dropped" });
    const waiting = await accepted(gateway, { ...lane, name: "Waiting" });

    await gateway.deliveries().drop(dropped);
    expect(await ended(gateway, dropped)).toEqual({ status: "skipped", replyDisposition: "empty" });
    expect(await gateway.said()).toEqual(["Hook Dropped was dropped: an operator gave it up"]);

    await clock.advance(24 * HOUR - 60_000);
    expect((await gateway.row(waiting))?.state).toBe("accepted");
    await clock.advance(120_000);
    await eventually(async () => expect((await gateway.row(waiting))?.state).toBe("expired"));
    expect((await gateway.said())[1]).toContain("Hook Waiting expired: it waited for more than 24 h without a turn (svc hooks retry");
    expect(await ended(gateway, waiting)).toEqual({ status: "skipped", replyDisposition: "empty" });
  });
});

test("a timer that has died is started again by the next look at health", async () => {
  const clock = fakeClock();
  let isDead = true;
  const lame: typeof clock = {
    ...clock,
    setInterval: (fn, ms) => (isDead && ms === 60_000 ? { dispose: () => undefined } : clock.setInterval(fn, ms)),
  };
  const gateway = await deliveriesGateway({ models: [], clock: lame });
  await eventually(() => expect(gateway.deliveries().tick()).toEqual({ intervalMs: 60_000, age: 0, wasDead: false }));

  await clock.advance(180_001);
  isDead = false;
  expect(gateway.deliveries().tick()).toEqual({ intervalMs: 60_000, age: 180_001, wasDead: true });
  await clock.advance(60_000);
  expect(gateway.deliveries().tick()).toEqual({ intervalMs: 60_000, age: 0, wasDead: false });
});

describe("another instance", () => {
  test("of the plugin goes on with the run under way, and takes what waits", async () => {
    const model = gatedModel();
    const gateway = await deliveriesGateway({ models: [model] });
    const runId = await accepted(gateway, { message: "long" });
    const waits = ended(gateway, runId);
    await eventually(() => expect(model.waiting()).toEqual(["long"]));

    const [, refused] = await Promise.all([gateway.replace(), waits.catch((error: unknown) => error)]);
    expect(refused).toMatchObject({ code: "draining" });
    await eventually(async () => expect(await gateway.row(runId)).toMatchObject({ state: "running", attempt: 1 }));
    model.release();
    expect(await ended(gateway, runId)).toMatchObject({ status: "ok" });
    expect(model.requests).toHaveLength(1);
  });

  test("of the gateway runs again what the stop cut off, and it counts as one try", async () => {
    const model = gatedModel();
    const config = { gateway: { shutdown: { drainMs: 50 } } };
    const gateway = await deliveriesGateway({ models: [model], config });
    const runId = await accepted(gateway, { message: "cut off", sessionKey: "agent:main:hook:cut" });
    await eventually(() => expect(model.waiting()).toEqual(["cut off"]));
    await gateway.close({ keepState: true });

    const later = await deliveriesGateway({ models: [model], config, stateDir: gateway.stateDir });
    await eventually(() => expect(model.waiting()).toEqual(["cut off"]));
    expect(await later.row(runId)).toMatchObject({ state: "running", attempt: 1 });
    model.release();
    expect(await ended(later, runId)).toMatchObject({ status: "ok" });
    expect(await later.said("agent:main:hook:cut")).toEqual(["answer to cut off"]);
    expect(await later.events()).toEqual(["Hook Hook: answer to cut off"]);
    expect(await later.service("store@2").systemEvents.pending(mainKey, 10)).toHaveLength(1);
  });
});

describe("a start", () => {
  test("that finds the storage away, and its role lost meanwhile, takes the role again", async () => {
    const model = gatedModel();
    const gateway = await deliveriesGateway({ models: [model] });
    const { deliveries } = gateway.service("store@2");
    const { abandoned } = deliveries;
    deliveries.abandoned = async () => {
      deliveries.abandoned = abandoned;
      await (await gateway.service("leases@1").acquire("deliveries:hooks", { owner: "nobody" })).release();
      throw new SvcError("storage-unavailable", { message: "the disk is full", http: 503, rpc: "UNAVAILABLE" }, { reason: "full" });
    };
    await gateway.replace();
    const runId = await accepted(gateway, { message: "first" });
    await eventually(() => expect(model.waiting()).toEqual(["first"]));

    expect(await deliveries.abandoned({ dirs: ["hook-agent"], limit: 10 })).toEqual([]);
    model.release();
    expect(await ended(gateway, runId)).toMatchObject({ status: "ok" });
  });

  test("that failed can be tried again", async () => {
    const gateway = await deliveriesGateway({ models: [fakeModel(["answer"])] });
    const { gate } = gateway.service("store@2").deliveries;
    const { suspects } = gate;
    gate.suspects = () => {
      gate.suspects = suspects;
      throw new Error("the connection is closed");
    };
    await gateway.replace();
    const runId = await accepted(gateway);
    expect(gateway.logs.map(({ message }) => message)).toContain("hook deliveries of an earlier process cannot be resumed");

    await gateway.deliveries().start();
    expect(await ended(gateway, runId)).toMatchObject({ status: "ok" });
  });
});

describe("while rows are read", () => {
  test("an action that is accepted then is carried out without another nudge", async () => {
    const gateway = await deliveriesGateway({ models: [fakeModel(["one", "two"])] });
    const due = holdNext(gateway.service("store@2"), "deliveries.due");
    const first = await accepted(gateway, { message: "first" });
    await due.asked;
    const second = await accepted(gateway, { message: "second" });
    due.release();

    expect(await ended(gateway, first)).toMatchObject({ status: "ok" });
    expect(await ended(gateway, second)).toMatchObject({ status: "ok" });
    for (const uid of [first, second]) expect(await gateway.row(uid)).toMatchObject({ attempt: 1 });
  });

  test("a stop is the last word, also when they cannot be read", async () => {
    const gateway = await deliveriesGateway({ models: [fakeModel([])] });
    const refusals: Array<(error: Error) => void> = [];
    gateway.service("store@2").deliveries.due = () => new Promise((_, reject) => refusals.push(reject));
    await accepted(gateway, { message: "first" });
    const refuse = await eventually(() => refusals[0]);

    await gateway.replace();
    refuse(new Error("the connection is closed"));
    await new Promise((resolve) => setImmediate(resolve));

    expect(gateway.logs.map(({ message }) => message)).not.toContain("hook deliveries cannot be read; trying again");
  });

  test("an end that is stored then is told to whoever waits for it", async () => {
    const model = gatedModel();
    const gateway = await deliveriesGateway({ models: [model] });
    const runId = await accepted(gateway, { message: "first" });
    await eventually(() => expect(model.waiting()).toEqual(["first"]));
    const row = holdNext(gateway.service("store@2"), "deliveries.get");
    const completion = gateway.deliveries().completion(runId, AbortSignal.timeout(20_000));
    await row.asked;
    model.release();
    await eventually(async () => (await gateway.row(runId))?.state === "done");
    // The listeners have heard of the end by now.
    await new Promise((resolve) => setImmediate(resolve));
    row.release();

    expect(await completion).toMatchObject({ status: "ok" });
  });
});
