import type { JsonObject, RunRequest } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type GatedModel, gatedModel } from "../../test/fixtures/gated-model.ts";
import { countTogether, failNext, holdNext } from "../../test/fixtures/held-read.ts";

/** Each test lets something happen between a read of the store and the act that follows it. */

const mainKey = "agent:main:main";
let gw: TestGateway;
let model: GatedModel;
beforeEach(async () => {
  model = gatedModel();
  gw = await createTestGateway({
    plugins: ["store", "agents"],
    config: { agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" } } } },
    models: [model],
  });
});
afterEach(async () => {
  model.release();
  await gw.close();
});

const store = () => gw.service("store@2");
const run = (runId: string, message: string) =>
  gw.service("agents@1").run({ runId, message, sessionKey: mainKey, trigger: "user", actor: { kind: "internal", scopes: [] } });
const isWaiting = (text: string) => eventually(() => expect(model.waiting()).toEqual([text]) ?? true);

describe("while the row of a run is read", () => {
  test("a second request under the same id gets the same run", async () => {
    const row = holdNext(store(), "runs.get");
    const first = run("one", "hello");
    await row.asked;
    const second = run("one", "hello");
    row.release();

    const handles = await Promise.all([first, second]);
    await isWaiting("hello");
    model.release();

    expect((await Promise.all(handles.map(({ done }) => done))).map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(model.requests).toHaveLength(1);
  });

  test("a run that is accepted then is waited for, and is not told to be over", async () => {
    const row = holdNext(store(), "runs.get");
    const waiting = gw.rpc<JsonObject>("agent.wait", { runId: "one", timeoutMs: 30_000 });
    await row.asked;
    await run("one", "hello");
    await isWaiting("hello");
    row.release();
    model.release();

    expect(await waiting).toMatchObject({ runId: "one", status: "ok" });
  });
});

describe("when the session cannot be read for the events of an acceptance", () => {
  /** The first read is that of the acceptance, the second that for its events. */
  async function acceptUnread<T>(accept: () => Promise<T>): Promise<T> {
    const before = holdNext(store(), "sessions.get");
    const accepted = accept();
    await before.asked;
    failNext(store(), "sessions.get", new Error("no read"));
    before.release();
    return accepted;
  }

  test("a new run is at work all the same, and ends", async () => {
    const { done } = await acceptUnread(() => run("one", "hello"));
    await isWaiting("hello");
    model.release();

    expect(await done).toMatchObject({ status: "ok" });
    expect(gw.logs).toContainEqual(expect.objectContaining({ message: "run one: its acceptance could not be announced" }));
  });

  test("so is one that is taken on once more", async () => {
    const request = {
      ...{ runId: "one", message: "hello", sessionKey: mainKey, trigger: "hook", resume: true },
      actor: { kind: "hook", scopes: [] },
    } satisfies RunRequest;
    const first = await gw.service("agents@1").run(request);
    await isWaiting("hello");
    model.release();
    await first.done;
    const row = await store().runs.get("one");
    if (!row) throw new Error("the run has no row");
    await store().commit([{ op: "run.put", run: { ...row, state: "interrupted" } }]);

    const { done } = await acceptUnread(() => gw.service("agents@1").run(request));
    await isWaiting("hello");
    model.release();

    expect(await done).toMatchObject({ status: "ok" });
  });
});

test("previews of sessions are read one after the other", async () => {
  const keys = ["a", "b", "c"].map((key) => `agent:main:${key}`);
  for (const key of keys) await gw.rpc("sessions.create", { key });
  const pages = countTogether(store(), "messages.page");

  const { previews } = await gw.rpc<{ previews: JsonObject[] }>("sessions.preview", { keys });

  expect(previews.map(({ key, status }) => [key, status])).toEqual(keys.map((key) => [key, "empty"]));
  expect(pages.most).toBe(1);
});

test("a run that another owner has ended is not ended again", async () => {
  const { done } = await run("one", "hello");
  await isWaiting("hello");
  const row = await store().runs.get("one");
  if (!row) throw new Error("the run has no row");
  await store().commit([{ op: "run.put", run: { ...row, bootId: "another", state: "interrupted", endedAt: 1 } }]);

  model.release();

  expect(await done).toMatchObject({ status: "error", code: "INTERRUPTED" });
  expect(await store().runs.get("one")).toMatchObject({ state: "interrupted", bootId: "another" });
});

test("a run whose end is stored, though the store could not say so, ends as it is stored", async () => {
  const { done } = await run("one", "hello");
  await isWaiting("hello");
  const service = store();
  const { commit } = service;
  service.commit = async (ops, options) => {
    const results = await commit(ops, options);
    if (!ops.some((op) => op.op === "run.put" && op.run.state === "ok")) return results;
    service.commit = commit;
    throw new Error("the writer is gone");
  };
  const client = await gw.client();
  const chats: unknown[] = [];
  client.on("chat", (payload) => void chats.push((payload as { state?: string }).state));
  await client.request("sessions.messages.subscribe", { key: mainKey });

  model.release();

  expect(await done).toMatchObject({ status: "ok", text: "answer to hello" });
  expect(await store().runs.get("one")).toMatchObject({ state: "ok" });
  expect(await store().sessions.get(mainKey)).toMatchObject({ status: "done" });
  await eventually(() => chats.includes("final"));
  expect(chats).not.toContain("error");
});

test("a history that is read while a run ends holds its answer", async () => {
  const { done } = await run("one", "hello");
  await isWaiting("hello");
  const page = holdNext(store(), "messages.page");
  const history = gw.rpc<{ messages: Array<{ role: string }>; inFlightRun?: unknown }>("chat.history", { sessionKey: mainKey });
  await page.asked;
  model.release();
  await done;
  page.release();

  const { messages, inFlightRun } = await history;
  expect([messages.map(({ role }) => role), inFlightRun]).toEqual([["user", "assistant"], undefined]);
});

test("of two sessions that ask for one label at once one is refused", async () => {
  const outcomes = await Promise.allSettled(
    ["a", "b"].map((key) => gw.rpc("sessions.create", { key: `agent:main:${key}`, label: "plans" })),
  );

  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const refused = outcomes.find(({ status }) => status === "rejected") as PromiseRejectedResult;
  expect(String(refused.reason)).toContain('label "plans" is already used by session "agent:main:');
});

test("a session that is changed while it is read is told as it is then", async () => {
  await gw.rpc("sessions.create", { key: mainKey });
  const client = await gw.client();
  await client.request("sessions.subscribe", {});
  const told: string[] = [];
  client.on("sessions.changed", (payload) => told.push(String((payload as { session?: JsonObject }).session?.label)));
  // The first read is that of the row to change, under the lock of the session; the second that of the row to tell.
  const before = holdNext(store(), "sessions.get");
  const patched = gw.rpc("sessions.patch", { key: mainKey, label: "first" });
  await before.asked;
  const after = holdNext(store(), "sessions.get");
  before.release();
  await after.asked;
  await store().commit([{ op: "session.patch", key: mainKey, patch: { label: "second" } }]);
  after.release();
  await patched;

  await eventually(() => told.length > 0);
  expect(told).toEqual(["second"]);
});

test("clients that ask for the same list while it is read get one reading", async () => {
  let count = 0;
  const { sessions } = store();
  const list = sessions.list;
  sessions.list = (query) => {
    // The health snapshot lists some, too.
    if (query.withoutKinds) count += 1;
    return list(query);
  };
  const held = holdNext(store(), "sessions.list");
  const first = gw.rpc("sessions.list", {});
  await held.asked;
  const others = Array.from({ length: 5 }, () => gw.rpc("sessions.list", {}));
  held.release();

  const answers = await Promise.all([first, ...others]);

  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(count).toBe(1);
});
