import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelRequest } from "svc/sdk";
import { createTestGateway, eventually, type FakeModel, type FakeTurn, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const config = { agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" } } } };
const REQUESTS = 100;
/** About 1 KB, as answers are. */
const longAnswer = `Sure. ${"dolor sit ".repeat(102)}`;

let stateDir: string;
let model: FakeModel;
let gw: TestGateway;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-stateless-"));
  await start();
});
afterAll(async () => {
  await gw.close();
  await rm(stateDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const answer = (req: ModelRequest): FakeTurn =>
    JSON.stringify(req.messages).includes("fail") ? { fault: "invalid_request" } : longAnswer;
  model = fakeModel(Array.from({ length: 3 * REQUESTS }, () => answer));
  gw = await createTestGateway({ plugins: ["store", "agents", "openai-http"], config, models: [model], stateDir });
}

/** Size of the database without its log: a gateway that ends writes a checkpoint. */
async function storedBytes(): Promise<number> {
  await gw.close();
  const { size } = await stat(join(stateDir, "state.sqlite"));
  await start();
  return size;
}

const ask = (messages: unknown[]) => gw.fetch("/v1/chat/completions", { method: "POST", body: JSON.stringify({ messages }) });
const keys = async () =>
  (await gw.rpc<{ sessions: Array<{ key: string }> }>("sessions.list", { limit: 100 })).sessions.map(({ key }) => key);

const history = Array.from({ length: 20 }, (_, i) => [
  { role: "user", content: `question ${i}: where is it?` },
  { role: "assistant", content: `answer ${i} ${longAnswer}` },
]).flat();
const now = { role: "user", content: "and now?" };
const chatBytes = Buffer.byteLength(JSON.stringify(history));
const respond = (body: object) => gw.fetch("/v1/responses", { method: "POST", body: JSON.stringify({ model: "svc", ...body }) });

/** Growth of the database with many requests, five at a time, all of which succeed. */
async function costOf(request: () => Promise<Response>, left: (before: number) => Promise<void>): Promise<number> {
  const before = await storedBytes();
  const sessions = (await keys()).length;
  for (let i = 0; i < REQUESTS; i += 5) {
    const answers = await Promise.all(Array.from({ length: 5 }, request));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  }
  expect(model.requests.at(-1)?.messages).toHaveLength(41);
  await left(sessions);
  return (await storedBytes()) - before;
}
const newestFew = (before: number) => eventually(async () => expect((await keys()).length - before).toBeLessThan(8));

test.each([
  ["chat completions", () => ask([...history, now])],
  ["responses with store: false", () => respond({ store: false, input: [...history, now] })],
])("100 requests of one chat of 40 turns as %s cost less than twice its bytes, with answers of 1 KB", async (_name, request) => {
  expect(await costOf(request, newestFew)).toBeLessThan(2 * chatBytes);
});

test("responses store question and answer once, and no more than a conversation needs", async () => {
  const cost = await costOf(
    () => respond({ input: [...history, now] }),
    async () => undefined,
  );
  expect(cost / REQUESTS).toBeLessThan(Buffer.byteLength(longAnswer) + 3_072);
});

test("a response with store: false is not continued, and what it answered is not referred to", async () => {
  const { id, output } = (await (await respond({ store: false, input: "hi" })).json()) as { id: string; output: Array<{ id: string }> };
  expect((await respond({ previous_response_id: id, input: "and?" })).status).toBe(404);
  const stored = (await (await respond({ input: "hi" })).json()) as { id: string; output: Array<{ id: string }> };
  const references = [output, stored.output].map(([message]) => ({ type: "item_reference", id: message?.id }));
  expect((await respond({ input: [...references, { role: "user", content: "and?" }] })).status).toBe(200);
  expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(["assistant", "user"]);
  expect((await respond({ previous_response_id: stored.id, input: "and?" })).status).toBe(200);
});

test("a request with a key is answered again from its row alone", async () => {
  const key = { "Idempotency-Key": "k1" };
  const keyed = (body: object) => gw.fetch("/v1/chat/completions", { method: "POST", headers: key, body: JSON.stringify(body) });
  const body = { messages: [now] };
  const first = await (await keyed(body)).json();
  const [mine] = await keys();
  for (let i = 0; i < 8; i++) await ask([now]);
  await eventually(async () => expect(await keys()).not.toContain(mine));
  const again = await keyed(body);
  expect(again.headers.get("Idempotent-Replay")).toBe("true");
  expect(await again.json()).toEqual(first);
});

test("of single requests the newest stay for a look, and what failed or somebody took up", async () => {
  const one = async (content: string) => {
    await ask([...history.slice(0, 2), { role: "user", content }]);
    const [newest] = await keys();
    return newest as string;
  };
  const failed = await one("fail");
  const named = await one("named");
  await gw.rpc("sessions.patch", { key: named, label: "look at this" });
  const continued = await one("continued");
  await gw.rpc("agent", { sessionKey: continued, message: "and?", idempotencyKey: "more" });
  await gw.rpc("agent.wait", { runId: "more" });
  const gone = await one("gone");
  const later = [];
  for (let i = 0; i < 8; i++) later.push(await one(`later ${i}`));

  await eventually(async () => expect(await keys()).not.toContain(gone));

  const runs = await gw
    .service("agents@1")
    .run({ message: "hi", sessionKey: continued, trigger: "user", actor: { kind: "internal", scopes: [] } });
  await runs.done;
  const { rows } = await gw.service("store@2").sessions.list({ limit: 100 });
  const of = (key: string) => rows.find((row) => row.key === key) as { key: string; sessionId: string; lastRunId: string };
  const mainSession = { runId: "any", sessionKey: "agent:main:main", sessionId: "any" };
  await gw.service("agents@1").forget(mainSession);
  for (const key of [named, continued]) {
    const { sessionId, lastRunId } = of(key);
    await gw.service("agents@1").forget({ runId: key === continued ? "an earlier one" : lastRunId, sessionKey: key, sessionId });
  }

  const left = await keys();
  expect(left).toEqual(expect.arrayContaining([failed, named, continued, ...later.slice(-4)]));
  const { messages } = await gw.rpc<{ messages: unknown[] }>("chat.history", { sessionKey: later.at(-1) as string });
  expect(messages).toHaveLength(2);
});
