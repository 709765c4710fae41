import type { JsonObject, SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway, type TestSocket } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTalkPlatform, echoModel } from "../../test/fixtures/talk-platform.ts";

/** Messages that nobody on the channel has asked for: heartbeats, and answers to webhooks. */

const HOOK_TOKEN = "hook-token-of-this-test";

const platform = createTalkPlatform();
let answer = "HEARTBEAT_OK";
const model = echoModel(() => answer);
let gw: TestGateway;
let socket: TestSocket;

const talk = { token: "good", accounts: { quiet: { heartbeat: { showAlerts: false, useIndicator: false } } } };
const withHeartbeat = (heartbeat: object, channel: Record<string, unknown> = talk): SvcConfigInput => ({
  agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0m", target: "talk", to: "@ada", ...heartbeat } } },
  channels: { talk: channel },
  hooks: { enabled: true, token: HOOK_TOKEN },
  messages: { inbound: { debounceMs: 0 } },
});

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", "webhooks", platform.plugin],
    models: [model],
    config: withHeartbeat({}),
  });
  socket = await gw.ws();
  await eventually(() => platform.running.has("default") && platform.running.has("quiet"));
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  platform.sent.length = 0;
});

let count = 0;
/** One heartbeat with this answer. @returns its report */
async function beat(text: string): Promise<JsonObject> {
  answer = text;
  const before = socket.events.filter(({ event }) => event === "heartbeat").length;
  await gw.rpc("wake", { mode: "now", text: `look ${++count}` });
  return eventually(() => socket.events.filter(({ event }) => event === "heartbeat")[before]?.payload);
}

test("news are told, and nothing is said when there are none", async () => {
  expect(await beat("The door stands open.")).toMatchObject({ status: "sent", channel: "talk", to: "@ada", indicatorType: "alert" });
  expect(await beat("HEARTBEAT_OK")).toMatchObject({ status: "ok-token", indicatorType: "ok" });
  expect(platform.sent.map(({ text }) => text)).toEqual(["The door stands open."]);
});

test("showOk says that there is nothing new, but not for an agent that asked for silence", async () => {
  await gw.reload(withHeartbeat({}, { ...talk, heartbeat: { showOk: true } }));
  expect(await beat("HEARTBEAT_OK")).toMatchObject({ status: "ok-token" });
  expect(await beat("HEARTBEAT_OK The door is shut.")).toMatchObject({ status: "ok-token" });
  expect(await beat("NO_REPLY")).toMatchObject({ status: "ok-empty", silent: true });
  expect(platform.sent.map(({ text }) => text)).toEqual(["Nothing needs attention.", "The door is shut."]);
});

test("showAlerts and useIndicator of an account hide news there, and leave the indicator out of the report", async () => {
  await gw.reload(withHeartbeat({ accountId: "quiet" }));
  const report = await beat("The door stands open.");
  expect(report).toMatchObject({ status: "skipped", reason: "alerts-hidden", preview: "The door stands open." });
  expect(report).not.toHaveProperty("indicatorType");
  expect(await gw.rpc("last-heartbeat")).toEqual(report);
  expect(platform.sent).toEqual([]);
});

test("with target last the account that was heard of last decides", async () => {
  const open = { ...talk, dmPolicy: "open", allowFrom: ["*"] };
  await gw.reload(withHeartbeat({ target: "last", to: undefined }, open));
  await eventually(() => platform.running.has("quiet"));
  answer = "Good morning.";
  await platform.say("hello", { account: "quiet" });
  await eventually(() => platform.sent.length === 1);
  expect(await beat("The door stands open.")).toMatchObject({ status: "skipped", reason: "alerts-hidden" });
  expect(platform.sent).toHaveLength(1);
});

test("a webhook that names no recipient reaches whoever the main session has heard from last; a plugin stands for its channel", async () => {
  const open = { ...talk, dmPolicy: "open", allowFrom: ["*"] };
  await gw.reload(withHeartbeat({}, open));
  await eventually(() => platform.running.has("default"));
  answer = "The mail is here.";
  await platform.say("hello", { peer: { id: "@bob" }, sender: { id: "@bob" } });
  await eventually(() => platform.sent.length === 1);
  const hook = async (place: object) => {
    const body = { message: "look", deliver: true, wakeMode: "next-heartbeat", ...place };
    const before = platform.sent.length;
    const headers = { authorization: `Bearer ${HOOK_TOKEN}`, "content-type": "application/json" };
    const { status } = await fetch(`${gw.url}/hooks/agent`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(status).toBe(200);
    return eventually(() => platform.sent[before]);
  };
  expect(await hook({})).toMatchObject({ accountId: "default", to: "@bob", text: answer });
  expect(await hook({ channel: "channel-talk", to: "@ada" })).toMatchObject({ to: "@ada", text: answer });
});
