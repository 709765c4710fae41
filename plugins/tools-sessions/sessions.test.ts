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
  // An event wakes a heartbeat, which would read the reports before the tests do.
  await gw.rpc("set-heartbeats", { enabled: false });
});
afterAll(() => gw?.close());
beforeEach(() => {
  turns = [];
});

type Given = Pick<RunRequest, "tools" | "origin">;
const say = async (message: string, sessionKey = "main", given: Given = {}) => {
  const run = await gw.service("agents@1").run({ message, sessionKey, trigger: "user", actor: { kind: "internal", scopes: [] }, ...given });
  return run.done;
};
/** Calls a tool as the agent of a session does, and resolves with its result. */
async function result(name: string, args: JsonObject, sessionKey = "main", given: Given = {}): Promise<string> {
  let text: string | undefined;
  turns.unshift((request) => {
    if (!saidTo(request).includes(`use ${name}`)) return undefined;
    const last = lastOf(request);
    if (last?.role !== "tool") return { toolCalls: [{ name, args }] };
    text = last.text;
    return "done";
  });
  await say(`use ${name}`, sessionKey, given);
  turns.shift();
  return text ?? "";
}

/** Facts in a frame. */
function factsIn(text: string) {
  expect(text).toMatch(/^SECURITY NOTICE: /);
  return JSON.parse(/---\n([\s\S]*)\n<<<END_EXTERNAL_UNTRUSTED_CONTENT/.exec(text)?.[1] ?? "");
}
/** State of a run in another session, before its answer in a frame. */
const stateIn = (text: string) => JSON.parse(text.split("\n")[0] ?? "");
const reports = async (task: string) => {
  const waiting = await gw.service("store@2").systemEvents.pending("agent:main:main", 20);
  return waiting.filter(({ text }) => text.includes(`("${task}") reports:`)).map(({ text }) => text);
};

test("an agent knows the time, its model and what the conversation has used", async () => {
  await say("hello");
  const status = JSON.parse(await result("session_status", {}));
  expect(status).toMatchObject({ agent: "main", session: "agent:main:main", tokens: { input: expect.any(Number) } });
  expect(Date.parse(status.utc)).toBeGreaterThan(0);
  expect(status.now).toMatch(/^\w+day, /);
});

test("it lists and reads its conversations, and no session that it may not see", async () => {
  await say("about the dentist", "agent:main:irc:direct:kim");
  expect(factsIn(await result("sessions_list", { search: "kim" })).sessions).toMatchObject([
    { key: "agent:main:irc:direct:kim", title: "about the dentist", lastMessage: "ok", updatedAt: expect.any(String) },
  ]);
  const { messages } = factsIn(await result("sessions_history", { key: "agent:main:irc:direct:kim" }));
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
  expect(stateIn(answer)).toMatchObject({ key: "agent:main:irc:direct:kim", state: "answered" });
  expect(answer).toMatch(/\n\nSECURITY NOTICE: [\s\S]*Source: Session\nFrom: agent:main:irc:direct:kim\n---\nat nine\n<<<END_/);
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
        inner.push(...request.messages.flatMap((m) => (m.role === "tool" ? [m.text] : [])));
        return "result of a helper";
      }
      seen.push(request);
      const history = { name: "sessions_history", args: { key: "agent:main:main" } };
      return { toolCalls: [history, { name: "sessions_spawn", args: { task: "count for me" } }] };
    },
  ];
  const { key } = JSON.parse(await result("sessions_spawn", { task: "count the boats" }));
  await eventually(async () => (await reports("count the boats")).length === 1);
  expect(seen[0]?.tools.map(({ name }) => name).sort()).toEqual(["session_status", "sessions_history", "sessions_list"]);
  expect(inner).toEqual([expect.stringContaining("there is no session"), "Tool not available: sessions_spawn"]);
  expect((await reports("count the boats"))[0]).toMatch(/reports:\nSECURITY NOTICE: [\s\S]*---\nresult of a helper\n<<<END_/);
  const list = await gw.service("store@2").sessions.list({ spawnedBy: "agent:main:main", limit: 10 });
  expect(list.rows.map(({ key }) => key)).toEqual([key]);
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
  const given = { tools: { deny: ["session_status"] } };
  const { key } = stateIn(await result("sessions_spawn", { task: "count", waitSeconds: 30 }, "main", given));
  await result("sessions_send", { key, text: "count again", waitSeconds: 30 }, "main", given);
  const few = ["sessions_history", "sessions_list"];
  expect(seen).toEqual([few, few]);
});

test("an answer that was waited for is told once, and again where the run that has it fails", async () => {
  turns = [(request) => (keyOf(request).includes(":subagent:") ? "two boats" : undefined)];
  const answer = await result("sessions_spawn", { task: "count boats and wait", waitSeconds: 30 });
  expect(stateIn(answer)).toMatchObject({ state: "answered" });
  expect(answer).toMatch(/Source: Helper\n[\s\S]*---\ntwo boats\n<<<END_/);
  await eventually(async () => (await gw.service("store@2").kv.list("gateway/spawns", "")).length === 0);
  expect(await reports("count boats and wait")).toEqual([]);

  turns.unshift((request) => {
    if (!saidTo(request).includes("fail later")) return undefined;
    const call = { name: "sessions_spawn", args: { task: "count for nothing", waitSeconds: 30 } };
    return lastOf(request)?.role === "tool" ? { fault: "invalid_request" } : { toolCalls: [call] };
  });
  expect(await say("fail later")).toMatchObject({ status: "error" });
  await eventually(async () => (await reports("count for nothing")).length === 1);
});

test.each([
  ["a session that strangers write in", "agent:main:irc:group:%23team", {}],
  ["a person on a channel", "agent:main:irc:direct:kim", { origin: "person" as const }],
])("%s hands no task to another agent", async (_, sessionKey, given) => {
  const task = { task: "read the diary", agentId: "other" };
  expect(await result("sessions_spawn", task, sessionKey, given)).toContain("you may hand tasks to yourself only");
});
