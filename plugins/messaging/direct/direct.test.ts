import type { Store } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTalkPlatform, echoModel } from "../../../test/fixtures/talk-platform.ts";

/** Messages that somebody sends by name: operators by `send`, an agent by its tool. */

const platform = createTalkPlatform();
let gw: TestGateway;
let store: Store;

const config = {
  agents: { defaults: { skipBootstrap: true } },
  channels: {
    talk: {
      token: "good",
      allowFrom: ["@ada", "@Bob", "*"],
      groups: { "#kitchen": {}, "#shut": { enabled: false }, "*": {} },
      groupAllowFrom: ["*"],
      accounts: { work: {} },
    },
  },
  session: { dmScope: "per-channel-peer" as const },
};

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store", "agents", "messaging", platform.plugin], models: [echoModel()], config });
  store = gw.service("store@2");
  await eventually(() => platform.running.has("default") && platform.running.has("work"));
  await platform.say("hello");
  await platform.say("hello", { chatType: "group", peer: { id: "#kitchen" }, mentions: { explicit: true, implicit: [] } });
  await eventually(() => platform.sent.length === 2);
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  platform.sent.length = 0;
  platform.onSend = undefined;
});

describe("send", () => {
  let key = 0;
  const send = (params: object) => gw.rpc("send", { idempotencyKey: `k${++key}`, message: "Hello.", ...params });

  test("answers when the platform has the message, with the id it gave; a prefix selects the channel", async () => {
    expect(await send({ to: "talk:@ada" })).toEqual({
      runId: `k${key}`,
      status: "sent",
      uid: expect.stringMatching(/^send-[0-9a-f]{32}$/),
      channel: "talk",
      accountId: "default",
      to: "@ada",
      messageId: "m1",
    });
    expect(await send({ to: "@ada", channel: "talk", accountId: "work", threadId: "t" })).toMatchObject({
      accountId: "work",
      threadId: "t",
    });
    expect(platform.sent).toMatchObject([
      { accountId: "default", to: "@ada", text: "Hello." },
      { accountId: "work", to: "@ada", threadId: "t" },
    ]);
  });

  test("with the same key is the same message, at the same time, afterwards, and with other words", async () => {
    const both = await Promise.all([send({ to: "talk:@ada", idempotencyKey: "one" }), send({ to: "talk:@ada", idempotencyKey: "one" })]);
    expect(both[0]).toEqual(both[1]);
    expect(await send({ to: "talk:#kitchen", message: "Other.", idempotencyKey: "one" })).toEqual(both[0]);
    expect(platform.sent).toHaveLength(1);
  });

  test("is the same message to a gateway that has forgotten the answer, by its row", async () => {
    const first = await send({ to: "talk:@ada", idempotencyKey: "kept" });
    // Over a thousand later answers push the first one out of memory.
    for (let i = 0; i < 1_001; i += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, j) => send({ to: "talk:@ada", message: "NO_REPLY", idempotencyKey: `fill${i + j}` })),
      );
    }
    expect(await send({ to: "talk:@ada", message: "Other.", idempotencyKey: "kept" })).toEqual(first);
    expect(platform.sent).toHaveLength(1);
  });

  test("names files as text where the channel takes none", async () => {
    await send({ to: "talk:@ada", message: undefined, mediaUrl: "https://example.org/a.png", mediaUrls: ["notes/plan.pdf"] });
    expect(platform.sent).toMatchObject([{ text: "https://example.org/a.png\n[file: plan.pdf]" }]);
  });

  test("says when the account is away that the message waits", async () => {
    await gw.rpc("channels.stop", { channel: "talk", accountId: "work" });
    const sent = send({ to: "@ada", channel: "talk", accountId: "work" });
    expect(await sent).toMatchObject({ status: "queued" });
    await gw.rpc("channels.start", { channel: "talk", accountId: "work" });
    await eventually(() => platform.sent.length === 1);
  });

  test.each([
    ["a channel that is not there", { to: "@ada", channel: "nowhere" }, "unsupported channel: nowhere; expected one of webchat, talk"],
    ["no channel", { to: "@ada" }, 'no channel for "@ada"'],
    ["the main session", { to: "main", channel: "webchat" }, "it is the main session of the agent and takes none"],
    ["a recipient of another form", { to: "talk:ada" }, "the channel does not know such targets"],
    ["an account that is not there", { to: "talk:@ada", accountId: "none" }, 'has no account "none"'],
    ["no text", { to: "talk:@ada", message: "" }, "message"],
    ["no key", { to: "talk:@ada", idempotencyKey: "" }, "idempotencyKey"],
    ["neither a text nor a file", { to: "talk:@ada", message: undefined }, "nothing to send"],
    ["a file that is no address of the web", { to: "talk:@ada", mediaUrl: "file:///etc/passwd" }, "expected an http or https address"],
  ])("is refused with %s", async (_, params, message) => {
    await expect(send(params)).rejects.toThrow(message);
    expect(platform.sent).toEqual([]);
  });

  test("needs the scope to write", async () => {
    const reader = await gw.client({ scopes: ["operator.read"] });
    await expect(reader.request("send", { to: "talk:@ada", message: "x", idempotencyKey: "r" })).rejects.toThrow();
  });
});

describe("the tool message", () => {
  const ada = "agent:main:talk:direct:@ada";
  const kitchen = "agent:main:talk:group:#kitchen";
  const main = "agent:main:main";
  const use = (args: object, sessionKey = ada) =>
    gw
      .service("agents@1")
      .invokeTool("message", { text: "By the way.", ...args }, { agentId: "main", sessionKey, signal: AbortSignal.timeout(20_000) })
      .then(
        (result) => JSON.stringify(result),
        (error: Error) => error.message,
      );

  test("writes to the conversation of its session", async () => {
    expect(await use({})).toContain("sent");
    expect(await use({}, kitchen)).toContain("sent");
    expect(await use({ channel: "talk" })).toContain("sent");
    expect(platform.sent.map(({ to }) => to)).toEqual(["@ada", "#kitchen", "@ada"]);
  });

  test("writes to whom the operator has named: on the list, as a group, by pairing", async () => {
    expect(await use({ to: "talk:@bob" })).toContain("sent");
    expect(await use({ to: "#kitchen", channel: "talk" })).toContain("sent");
    expect(await use({ to: "talk:@ada" }, main)).toContain("sent");
    expect(platform.sent.map(({ to }) => to)).toEqual(["@bob", "#kitchen", "@ada"]);
  });

  test.each([
    ["a stranger, though everybody may write to the agent", { to: "talk:@eve" }, ada, "may not write to"],
    ["a group that is not named", { to: "talk:#attic" }, ada, "may not write to"],
    ["a group that is switched off", { to: "talk:#shut" }, ada, "may not write to"],
    ["somebody on the list, from a group", { to: "talk:@ada" }, kitchen, "may not write to"],
    ["somebody on the list, from a webhook", { to: "talk:@ada" }, "agent:main:hook:1", "may not write to"],
    ["another channel for a plain message", { channel: "webchat" }, ada, "no recipient"],
    ["its own session, which has no conversation", {}, main, "belongs to no conversation"],
    ["the main session by name", { channel: "webchat", to: "main" }, ada, "takes none"],
  ])("does not write to %s", async (_, args, sessionKey, message) => {
    expect(await use(args, sessionKey)).toContain(message);
    expect(platform.sent).toEqual([]);
  });

  test("is off where the policy of tools says so", async () => {
    await gw.reload({ ...config, tools: { deny: ["message"] } });
    expect(await use({})).toContain("message");
    expect(platform.sent).toEqual([]);
    await gw.reload(config);
  });
});

test("an approval is taken back: the sender is a stranger again, and others are not touched", async () => {
  const rules = { ...config, channels: { talk: { ...config.channels.talk, allowFrom: ["@ada"] } } };
  await gw.reload(rules);
  const eve = { sender: { id: "@eve" }, peer: { id: "@eve" } };
  const list = () => gw.rpc<{ requests: Array<{ code: string }>; paired: Array<{ senderId: string }> }>("messaging.pairing.list", {});
  await platform.say("hi", eve);
  await gw.rpc("messaging.pairing.approve", { channel: "talk", code: (await list()).requests[0]?.code as string });
  expect(await platform.say("hi again", eve)).toMatchObject({ status: "accepted" });

  expect(await gw.rpc("messaging.pairing.revoke", { channel: "talk", senderId: "@eve" })).toMatchObject({ ok: true, accountId: "default" });
  expect(await list()).toMatchObject({ paired: [] });
  expect(await platform.say("and again", eve)).toMatchObject({ reason: "pairing-requested" });
  await expect(gw.rpc("messaging.pairing.revoke", { channel: "talk", senderId: "@eve" })).rejects.toThrow(
    '"@eve" is not paired on channel "talk"',
  );
  expect((await store.deliveries.list({ dirs: ["in"], limit: 10 })).length).toBeGreaterThan(0);
});
