import { randomUUID } from "node:crypto";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const HOOK_TOKEN = "hook-token-of-this-test-0123456789";
/** Half of a character, which UTF-8 cannot hold. */
const HALF = "\ud83d";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "openai-http", "webhooks"],
    models: [fakeModel(Array(40).fill("done"))],
    config: {
      hooks: {
        enabled: true,
        token: HOOK_TOKEN,
        allowRequestSessionKey: true,
        mappings: [
          { id: "issue", match: { path: "issue" }, messageTemplate: "{{title}}", sessionKey: "hook:issue:{{title}}", deliver: false },
        ],
      },
    },
  });
});
afterAll(() => gateway?.close());

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const bearer = path.startsWith("/hooks") ? { authorization: `Bearer ${HOOK_TOKEN}` } : {};
  const response = await gateway.fetch(path, { method: "POST", body: JSON.stringify(body), headers: { ...bearer, ...headers } });
  return { status: response.status, text: await response.text() };
}

const chat = (more: object) => ({ model: "svc", messages: [{ role: "user", content: "hi" }], ...more });

type Listed = { sessions: Array<{ key: string; status?: string }> };
const listed = async () =>
  (await gateway.rpc<Listed>("sessions.list", { limit: 1_000, includeGlobal: true, includeUnknown: true })).sessions;

describe("an id that no store can give back as it was is refused:", () => {
  test.each([
    ["half a character", `a${HALF}`, "lone surrogates"],
    ["a NUL", "a\u0000b", "control characters"],
    ["an escape", "a\u001b[2J", "control characters"],
    ["a control of one byte", "a\u009bb", "control characters"],
  ])("`user` of a chat request with %s is 400", async (_, user, why) => {
    const answer = await post("/v1/chat/completions", chat({ user }));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).error).toMatchObject({ type: "invalid_request_error", message: expect.stringContaining(why) });
  });

  test.each<[string, object]>([
    ["sessionKey", { sessionKey: `s${HALF}`, message: "hi", deliver: false }],
    ["to", { message: "hi", to: `#room${HALF}` }],
    ["idempotencyKey", { message: "hi", deliver: false, idempotencyKey: `k${HALF}` }],
    ["idempotencyKey", { message: "hi", deliver: false, idempotencyKey: "k\u0000" }],
  ])("%s of a direct hook is 400 with its name", async (name, body) => {
    const answer = await post("/hooks/agent", body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({ ok: false, error: expect.stringContaining(name) });
  });

  test.each<[string, Record<string, unknown>]>([
    ["agent", { message: "hi", sessionKey: `s${HALF}`, idempotencyKey: "k1" }],
    ["agent", { message: "hi", sessionKey: "s", idempotencyKey: `k${HALF}` }],
    ["agent", { message: "hi", sessionKey: "s", idempotencyKey: "k2", to: `t${HALF}` }],
    ["agent", { message: "hi", sessionKey: "s", idempotencyKey: "k3", label: `l${HALF}` }],
    ["chat.send", { message: "hi", sessionKey: `s${HALF}`, idempotencyKey: "k4" }],
    ["sessions.create", { key: `s${HALF}` }],
    ["sessions.patch", { key: "s", label: `l${HALF}` }],
    ["sessions.messages.subscribe", { key: `s${HALF}` }],
    ["wake", { mode: "now", text: "hi", sessionKey: `s${HALF}` }],
  ])("%s of the control protocol with half a character is an invalid request: %j", async (method, params) => {
    await expect(gateway.rpc(method, params)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("lone surrogates"),
    });
  });

  test("and a plugin that asks for a run of one gets an error, not a run", async () => {
    const run = gateway.service("agents@1").run({
      message: "hi",
      sessionKey: "plugin",
      runId: `r${HALF}`,
      trigger: "user",
      actor: { kind: "internal", scopes: [] },
    });
    await expect(run).rejects.toMatchObject({ code: "store-invalid-op" });
  });
});

test("half a character in a foreign payload loses no event: its session is made of what can be stored", async () => {
  const answer = await post("/hooks/issue", { title: `Broken ${HALF}` });
  expect([answer.status, JSON.parse(answer.text).ok]).toEqual([200, true]);
  await eventually(async () =>
    (await listed()).some(({ key, status }) => key === "agent:main:hook:issue:Broken \ufffd" && status === "done"),
  );
});

test("a header in UTF-8 names the session that the same text names elsewhere", async () => {
  const key = "Küche 日本";
  const bytes = Buffer.from(key).toString("latin1");
  expect((await post("/v1/chat/completions", chat({}), { "x-svc-session-key": bytes })).status).toBe(200);
  expect((await listed()).map((session) => session.key)).toContain(`agent:main:${key}`);
});

test("no session is listed twice, and none stays queued, whatever ids were tried", async () => {
  const ids = ["u", "ü", "👩‍💻", `${HALF}x`, `x${HALF}`, "\udc00", "a\u0000", "a\u202eb", "a\u2028b", "a\u0085b", "\ufffd", "A", "a"];
  await Promise.all(
    ids.flatMap((id) => [
      post("/v1/chat/completions", chat({ user: id })),
      post("/hooks/agent", { message: "hi", sessionKey: `hooked ${id}`, sessionMode: "persistent", deliver: false }),
      post("/hooks/issue", { title: id }),
      gateway.rpc("agent", { message: "hi", sessionKey: `ws ${id}`, idempotencyKey: randomUUID() }).catch(() => undefined),
    ]),
  );
  await eventually(async () => (await listed()).every(({ status }) => status !== "queued" && status !== "running"));
  const keys = (await listed()).map(({ key }) => key);
  expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
  for (const key of keys) expect(Buffer.from(key).toString("utf8")).toBe(key);
});
