import type { JsonObject, MessageRow, ModelRequest, OperatorScope } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isContextLine } from "../../../test/fixtures/spoken.ts";

/** `/compact prices` on each surface: a person's word, not the model's. */

const model = fakeModel(Array.from({ length: 200 }, () => "done"));
let gateway: TestGateway;

beforeAll(async () => {
  const agents = { defaults: { skipBootstrap: true, model: "fake/script", heartbeat: { every: "0m" } } };
  gateway = await createTestGateway({ plugins: ["store", "agents", "openai-http"], models: [model], config: { agents } });
});
beforeEach(() => void model.requests.splice(0));
afterAll(() => gateway.close());

const textsOf = ({ messages }: ModelRequest) =>
  messages.flatMap((m) =>
    m.role === "user" ? m.content.flatMap((part) => (part.type === "text" && !isContextLine(part.text) ? [part.text] : [])) : [],
  );

async function talk(sessionKey: string): Promise<void> {
  for (const message of ["one", "two", "three", "four"]) {
    const run = await gateway.service("agents@1").run({ message, sessionKey, trigger: "user", actor: { kind: "internal", scopes: [] } });
    expect(await run.done).toMatchObject({ status: "ok" });
  }
  model.requests.splice(0);
}

async function rowsOf(sessionKey: string): Promise<MessageRow[]> {
  const store = gateway.service("store@2");
  const { sessionId = "" } = (await store.sessions.get(`agent:main:${sessionKey}`)) ?? {};
  return store.messages.page(sessionId, { limit: 100 });
}

const http = (sessionKey: string, body: JsonObject, path = "/v1/chat/completions") =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, ...(sessionKey === "" ? {} : { "x-svc-session-key": sessionKey }) },
    body: JSON.stringify(body),
  });

let keys = 0;
const surfaces: Array<[string, (sessionKey: string, message: string) => Promise<string>]> = [
  [
    "chat.send",
    async (sessionKey, message) => {
      await gateway.rpc("chat.send", { sessionKey, message, idempotencyKey: `compact-${++keys}` });
      return JSON.stringify((await rowsOf(sessionKey)).at(-1)?.content);
    },
  ],
  [
    "agent",
    async (sessionKey, message) => JSON.stringify(await gateway.rpc("agent", { sessionKey, message, idempotencyKey: `compact-${++keys}` })),
  ],
  ["chat completions", async (key, content) => (await http(key, { model: "svc", messages: [{ role: "user", content }] })).text()],
  [
    "chat completions, streamed",
    async (key, content) => (await http(key, { model: "svc", stream: true, messages: [{ role: "user", content }] })).text(),
  ],
  ["responses", async (key, input) => (await http(key, { model: "svc", input }, "/v1/responses")).text()],
];

describe.each(surfaces)("/compact by %s", (name, say) => {
  const sessionKey = name.replaceAll(/\W+/g, "-");

  test("leaves a row of a manual compaction; the summary dwells on what was named, and no model answers", async () => {
    await talk(sessionKey);

    const answer = await say(sessionKey, "/compact prices of\nthe ovens");

    expect(answer).toContain("Older messages of this conversation are a summary now.");
    const rows = await rowsOf(sessionKey);
    expect(rows.filter(({ kind }) => kind === "compaction")).toMatchObject([{ details: { reason: "manual", summary: true } }]);
    expect(rows.some(({ role, content }) => role === "user" && JSON.stringify(content).includes("/compact"))).toBe(false);
    expect(model.requests).toHaveLength(1);
    const [asked] = model.requests as [ModelRequest];
    expect(asked.system).toContain("You shorten a conversation");
    expect(textsOf(asked).at(-1)).toMatch(/\[User\]: one[\s\S]*dwell on this above all: "prices of the ovens"$/);
  });
});

test("a command of a program is for its agent where there is no conversation to command, or where it carries more than words", async () => {
  const answers = [
    await http("", { model: "svc", messages: [{ role: "user", content: "/compact prices" }] }),
    await http("more", {
      model: "svc",
      messages: [{ role: "user", content: "/status" }],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(model.requests.map(textsOf)).toEqual([["/compact prices"], ["/status"]]);
});

test("an answer of the method agent is given again to a repeat, and nothing is done twice", async () => {
  await talk("repeat");
  const ask = () => gateway.rpc<JsonObject>("agent", { sessionKey: "repeat", message: "/compact", idempotencyKey: "compact-repeat" });
  const first = await ask();
  expect(await ask()).toEqual(first);
  expect((await rowsOf("repeat")).filter(({ kind }) => kind === "compaction")).toHaveLength(1);
});

test("a client without the right to compact is told so, and a client of HTTP too", async () => {
  const weak = await gateway.client({ scopes: ["operator.read", "operator.write"] });
  await expect(weak.request("agent", { sessionKey: "weak", message: "/compact", idempotencyKey: "weak-1" })).rejects.toThrow(
    "operator.admin",
  );
  const byHttp = async (message: string, scopes: OperatorScope[]) => {
    const asked = { message, sessionKey: "weak", trigger: "user" as const, actor: { kind: "http" as const, scopes } };
    return (await gateway.service("agents@1").run(asked)).done;
  };
  expect(await byHttp("/compact", ["operator.write"])).toMatchObject({
    status: "ok",
    text: "This needs the scope operator.admin; nothing was done.",
  });
  // Administration is all scopes.
  expect(await byHttp("/queue collect", ["operator.admin"])).toMatchObject({ text: "Messages are queued by: collect." });
  expect(model.requests).toEqual([]);
});
