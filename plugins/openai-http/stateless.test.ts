import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelRequest } from "svc/sdk";
import { createTestGateway, eventually, type FakeModel, type FakeTurn, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const config = { agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" } } } };
const REQUESTS = 100;

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
  const answer = (req: ModelRequest): FakeTurn => (JSON.stringify(req.messages).includes("fail") ? { fault: "invalid_request" } : "Sure.");
  model = fakeModel(Array.from({ length: 2 * REQUESTS }, () => answer));
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

const chat = Array.from({ length: 20 }, (_, i) => [
  { role: "user", content: `question ${i} ${"lorem ipsum ".repeat(78)}` },
  { role: "assistant", content: `answer ${i} ${"dolor sit ".repeat(90)}` },
]).flat();

test("100 requests of one chat of 40 turns cost less than twice its bytes", async () => {
  const chatBytes = Buffer.byteLength(JSON.stringify(chat));
  const before = await storedBytes();

  const messages = [...chat, { role: "user", content: "and now?" }];
  for (let i = 0; i < REQUESTS; i += 5) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(messages)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  }
  await eventually(async () => expect((await keys()).length).toBeLessThan(8));

  expect(model.requests.at(-1)?.messages).toHaveLength(41);
  expect((await storedBytes()) - before).toBeLessThan(2 * chatBytes);
});

test("responses store the turn and not the chat before it, until they go after a day", async () => {
  const before = await storedBytes();
  const input = [...chat, { role: "user", content: "and now?" }];

  for (let i = 0; i < 25; i++) {
    const answer = await gw.fetch("/v1/responses", { method: "POST", body: JSON.stringify({ model: "svc", input }) });
    expect(answer.status).toBe(200);
  }

  expect(model.requests.at(-1)?.messages).toHaveLength(41);
  expect((await storedBytes()) - before).toBeLessThan(25 * 4_096);
});

test("of single requests the newest stay for a look, and what failed or somebody took up", async () => {
  const one = async (content: string) => {
    await ask([...chat.slice(0, 2), { role: "user", content }]);
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

  const left = await keys();
  expect(left).toEqual(expect.arrayContaining([failed, named, continued, ...later.slice(-4)]));
  const { messages } = await gw.rpc<{ messages: unknown[] }>("chat.history", { sessionKey: later.at(-1) as string });
  expect(messages).toHaveLength(2);
});
