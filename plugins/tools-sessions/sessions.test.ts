import type { JsonObject, ModelRequest, RunRequest } from "svc/sdk";
import { createTestGateway, eventually, type FakeTurn, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

type Turn = (request: ModelRequest) => FakeTurn | undefined;
let gw: TestGateway;
/** Answers of the model; the first that has one wins. */
let turns: Turn[] = [];

const lastOf = ({ messages }: ModelRequest) => messages.at(-1);
const saidTo = ({ messages }: ModelRequest) => JSON.stringify(messages.filter(({ role }) => role === "user").at(-1) ?? "");
const keyOf = (request: ModelRequest) => request.context?.sessionKey ?? "";

beforeAll(async () => {
  const turn = (request: ModelRequest): FakeTurn => turns.map((one) => one(request)).find((found) => found !== undefined) ?? "ok";
  gw = await createTestGateway({
    plugins: ["store", "agents", "tools-sessions"],
    models: [fakeModel(Array.from({ length: 200 }, () => turn))],
    config: {
      tools: { sessions: { visibility: "agent" } },
      agents: { defaults: { heartbeat: { every: 0 } }, list: [{ id: "main", default: true }, { id: "other" }] },
    },
  });
}, 60_000);
afterAll(() => gw?.close());
beforeEach(() => {
  turns = [];
});

const say = async (message: string, sessionKey = "main", tools: RunRequest["tools"] = {}) => {
  const run = await gw.service("agents@1").run({ message, sessionKey, trigger: "user", actor: { kind: "internal", scopes: [] }, tools });
  return run.done;
};
/** Calls a tool as the agent of a session does, and resolves with its result. */
async function result(name: string, args: JsonObject, sessionKey = "main", tools: RunRequest["tools"] = {}): Promise<string> {
  let text: string | undefined;
  turns.unshift((request) => {
    if (!saidTo(request).includes(`use ${name}`)) return undefined;
    const last = lastOf(request);
    if (last?.role !== "tool") return { toolCalls: [{ name, args }] };
    text = last.text;
    return "done";
  });
  await say(`use ${name}`, sessionKey, tools);
  turns.shift();
  return text ?? "";
}

test("an agent knows the time, its model and what the conversation has used", async () => {
  await say("hello");
  const status = JSON.parse(await result("session_status", {}));
  expect(status).toMatchObject({ agent: "main", session: "agent:main:main", tokens: { input: expect.any(Number) } });
  expect(Date.parse(status.utc)).toBeGreaterThan(0);
  expect(status.now).toMatch(/^\w+day, /);
});

test("it lists and reads its conversations, and no session that it may not see", async () => {
  await say("about the dentist", "agent:main:irc:direct:kim");
  expect(JSON.parse(await result("sessions_list", { search: "kim" })).sessions).toMatchObject([
    { key: "agent:main:irc:direct:kim", title: "about the dentist", updatedAt: expect.any(String) },
  ]);
  const { messages } = JSON.parse(await result("sessions_history", { key: "agent:main:irc:direct:kim" }));
  expect(messages.map(({ role, text }: { role: string; text: string }) => [role, text])).toEqual([
    ["user", expect.stringContaining("about the dentist")],
    ["assistant", "ok"],
  ]);
  const group = "agent:main:irc:group:%23team";
  expect(await result("sessions_history", { key: "agent:main:irc:direct:kim" }, group)).toContain("there is no session");
  expect(await result("sessions_history", { key: "agent:main:gone" })).toContain("there is no session agent:main:gone");
});

test("it writes to another session and reads the answer; three messages in a row are enough", async () => {
  turns = [(request) => (keyOf(request).endsWith("kim") && saidTo(request).includes("What time") ? "at nine" : undefined)];
  const answer = await result("sessions_send", { key: "agent:main:irc:direct:kim", text: "What time?", waitSeconds: 30 });
  expect(JSON.parse(answer)).toMatchObject({ state: "answered", answer: "at nine" });
  expect(await result("sessions_send", { key: "agent:main:main", text: "me?" })).toContain("this is your own session");

  let sent = 0;
  const refusals: string[] = [];
  turns = [
    (request) => {
      if (!saidTo(request).includes("ping")) return undefined;
      const last = lastOf(request);
      if (last?.role === "tool") {
        if (last.isError) refusals.push(last.text);
        return "done";
      }
      sent += 1;
      const key = keyOf(request).endsWith("kim") ? "agent:main:main" : "agent:main:irc:direct:kim";
      return { toolCalls: [{ name: "sessions_send", args: { key, text: "ping" } }] };
    },
  ];
  await say("ping");
  await eventually(() => refusals.length === 1);
  expect([sent, refusals]).toEqual([4, [expect.stringContaining("written to each other 3 times already")]]);
});

test("a helper has few tools and sees little, and its result is told to the session", async () => {
  const seen: ModelRequest[] = [];
  const inner: string[] = [];
  turns = [
    (request) => {
      if (!keyOf(request).includes(":subagent:")) return undefined;
      const last = lastOf(request);
      if (last?.role === "tool") {
        inner.push(last.text);
        return "result of a helper";
      }
      seen.push(request);
      return { toolCalls: [{ name: "sessions_history", args: { key: "agent:main:main" } }] };
    },
  ];
  const first = JSON.parse(await result("sessions_spawn", { task: "count the boats", waitSeconds: 30 }));
  expect(first).toMatchObject({ state: "answered" });
  expect(seen[0]?.tools.map(({ name }) => name).sort()).toEqual(["session_status", "sessions_history", "sessions_list"]);
  expect(inner[0]).toContain("there is no session");
  await eventually(async () => {
    const waiting = await gw.service("store@2").systemEvents.pending("agent:main:main", 10);
    return waiting.some(({ text }) => text.includes('("count the boats") reports: '));
  });
  const list = await gw.service("store@2").sessions.list({ spawnedBy: "agent:main:main", limit: 10 });
  expect(list.rows.map(({ key }) => key)).toEqual([first.key]);
});

test("a helper has no tool that the run which asked for it has not, nor one more when it is written to later", async () => {
  const seen: string[][] = [];
  turns = [
    (request) => {
      if (!keyOf(request).includes(":subagent:")) return undefined;
      seen.push(request.tools.map(({ name }) => name).sort());
      return "done";
    },
  ];
  const tools = { deny: ["session_status"] };
  const { key } = JSON.parse(await result("sessions_spawn", { task: "count", waitSeconds: 30 }, "main", tools));
  await result("sessions_send", { key, text: "count again", waitSeconds: 30 }, "main", tools);
  const few = ["sessions_history", "sessions_list"];
  expect(seen).toEqual([few, few]);
});

test("a session that strangers write in hands no task to another agent", async () => {
  const task = { task: "read the diary", agentId: "other" };
  expect(await result("sessions_spawn", task, "agent:main:irc:group:%23team")).toContain("you may hand tasks to yourself only");
});
