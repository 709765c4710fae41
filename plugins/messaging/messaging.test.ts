import { randomUUID } from "node:crypto";
import {
  type Channel,
  definePlugin,
  type HookEvent,
  type JsonObject,
  type Messaging,
  type OutboundRequest,
  type PluginContext,
  SendRefusedError,
} from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

let gw: TestGateway;
let messaging: Messaging;
/** Handler of `outbound.sending` for the next messages. */
let sending: ((event: HookEvent<"outbound.sending">) => HookEvent<"outbound.sending"> | undefined) | undefined;
const told: Array<{ hook: string; event: JsonObject }> = [];

/** A channel that a plugin brings; its platform refuses every message. */
const lines: Channel = {
  id: "lines",
  meta: { label: "Lines", aliases: ["ln"], targetPrefixes: ["line"] },
  capabilities: { chatTypes: ["direct"], multiAccount: false },
  config: {
    list: () => ["home"],
    resolve: (_config, accountId) => ({ accountId, enabled: true }),
    inspect: () => ({ enabled: true, configured: true, missing: [] }),
  },
  async start({ signal, state }) {
    state({ lifecycle: "ready" });
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
  async send() {
    throw new SendRefusedError("not a member", { isPermanent: true });
  },
  target: { normalize: (raw) => /^#\w+$/.exec(raw.trim())?.[0] ?? null, format: (target) => target },
  text: { limit: 100, unit: "chars", render: ({ text }) => ({ text }) },
};

const listener = definePlugin({
  id: "listener",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx: PluginContext) {
    ctx.registerChannel(lines);
    ctx.registerChannel({ ...lines, id: "posts", meta: { label: "Posts" } });
    ctx.on("outbound.sending", (event) => sending?.(event));
    for (const hook of ["outbound.sent", "outbound.failed"] as const)
      ctx.on(hook, (event) => void told.push({ hook, event: { ...event } }));
  },
});

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", listener],
    models: [fakeModel([{ text: "It is done." }])],
    config: {
      agents: { defaults: { skipBootstrap: true }, list: [{ id: "main" }, { id: "ops" }] },
      plugins: { entries: { listener: { grants: ["hooks.conversation"] } } },
    },
  });
  messaging = gw.service("messaging@1");
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  sending = undefined;
  told.length = 0;
});

function message(changes: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    uid: randomUUID(),
    sessionKey: "agent:main:hook:a",
    agentId: "main",
    channel: "webchat",
    text: "Hello.",
    origin: "hook",
    ...changes,
  };
}

async function ended(request: OutboundRequest) {
  await messaging.deliver(request);
  return messaging.waitDelivered(request.uid);
}

async function history(sessionKey: string): Promise<Array<{ text: string; id: string }>> {
  const { messages } = await gw.rpc<{ messages: Array<{ content: Array<{ text: string }>; __svc: { id: string } }> }>("chat.history", {
    sessionKey,
  });
  return messages.map(({ content, __svc }) => ({ text: content.map(({ text }) => text).join(""), id: __svc.id }));
}

const ofMain = async (uid: string, agentId = "main") => (await history(`agent:${agentId}:main`)).filter(({ id }) => id === uid);

describe("a message to webchat", () => {
  test("comes to the main session of its agent, once, however often it is handed over", async () => {
    const request = message({ agentId: "ops", sessionKey: "agent:ops:hook:a", text: "**It** is done." });
    const answers = await Promise.all(Array.from({ length: 8 }, () => messaging.deliver(request)));

    expect(answers).toEqual(Array(8).fill({ uid: request.uid, route: { channel: "webchat" } }));
    expect(await messaging.waitDelivered(request.uid)).toEqual({ state: "done", messageId: request.uid });
    expect(await ended(request)).toMatchObject({ state: "done" });
    expect(await ofMain(request.uid, "ops")).toEqual([{ id: request.uid, text: "**It** is done." }]);
  });

  test("is not shown twice where the run has stored it already", async () => {
    const request = message({ sessionKey: "agent:main:main", origin: "chat" });
    expect(await ended(request)).toEqual({ state: "done", messageId: request.uid });
    expect(await ofMain(request.uid)).toEqual([]);
  });

  test.each([
    ["HEARTBEAT_OK", "heartbeat"],
    ["**NO_REPLY**", "silent"],
    ["  \n", "empty"],
  ])("is none when there is nothing to tell: %j", async (text, withheld) => {
    const request = message({ text });
    expect(await ended(request)).toEqual({ state: "done", withheld });
    expect(await ofMain(request.uid)).toEqual([]);
    expect(told).toEqual([]);
  });

  test("comes without the frames of external text", async () => {
    const id = "9f2c4e1ab07d3356";
    const framed = `Quoted:\n<<<EXTERNAL_UNTRUSTED_CONTENT id="${id}">>>\nSource: Webhook\n---\nbuild 7\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="${id}">>>`;
    const request = message({ text: framed });
    await ended(request);
    const { payload } = (await gw.service("store@2").deliveries.get(request.uid)) ?? {};
    expect(payload).toBeUndefined();
    expect(await ofMain(request.uid)).toEqual([{ id: request.uid, text: "Quoted:\nbuild 7" }]);
    const [row] = await gw
      .service("store@2")
      .messages.page((await gw.service("store@2").sessions.get("agent:main:main"))?.sessionId ?? "", { limit: 1 });
    expect(JSON.stringify(row)).not.toContain("UNTRUSTED");
  });

  test("is a row before it is sent, and waits an hour for a chat, a day for a webhook", async () => {
    for (const [origin, hours] of [
      ["chat", 1],
      ["hook", 24],
      ["cron", 24],
      ["heartbeat", 24],
    ] as const) {
      const request = message({ origin });
      await messaging.deliver(request);
      const row = await gw.service("store@2").deliveries.get(request.uid);
      expect(row).toMatchObject({ dir: "out", lane: "webchat::agent:main:main" });
      expect((row?.expiresAt ?? 0) - (row?.createdAt ?? 0), origin).toBe(hours * 3_600_000);
      await messaging.waitDelivered(request.uid);
    }
  });

  test("is refused when it is longer than a row may be", async () => {
    await expect(messaging.deliver(message({ text: "x".repeat(240 * 1024) }))).rejects.toMatchObject({ code: "text-too-long" });
    expect(await ended(message({ text: "x".repeat(240 * 1024 - 2) }))).toMatchObject({ state: "done" });
  });
});

describe("a route", () => {
  const to = (changes: Partial<OutboundRequest>) => messaging.resolveTarget(message(changes));

  test.each([
    ["last, of a session that nobody has written to from outside", { channel: "last" }, { channel: "webchat" }],
    ["last, with a recipient nobody knows the channel of", { channel: "last", to: "+49 30 1" }, { channel: "webchat" }],
    [
      "last, with a prefix that selects the channel",
      { channel: "last", to: "lines:#ops" },
      { channel: "lines", to: "#ops", accountId: "home" },
    ],
    ["a prefix in another name of the channel", { channel: "lines", to: "LN: #ops" }, { channel: "lines", to: "#ops", accountId: "home" }],
    [
      "its own prefix",
      { channel: "last", to: "line:#ops", threadId: "t" },
      { channel: "lines", to: "#ops", accountId: "home", threadId: "t" },
    ],
    ["an account that is named", { channel: "lines", to: "#ops", accountId: "work" }, { channel: "lines", to: "#ops", accountId: "work" }],
  ])("%s", async (_name, changes, route) => {
    expect(await to(changes)).toEqual(route);
  });

  test.each([
    ["unknown-channel", { channel: "irc", to: "#x" }, 'unknown channel "irc"; expected last or one of webchat, lines, posts'],
    ["recipient-required", { channel: "lines" }, 'channel "lines": no recipient; name one in `to`'],
    ["recipient-required", { channel: "lines", to: " " }, 'channel "lines": no recipient; name one in `to`'],
    [
      "invalid-recipient",
      { channel: "posts", to: "lines:#ops" },
      'channel "posts": "lines:#ops" is not a valid recipient: it belongs to channel lines',
    ],
    [
      "invalid-recipient",
      { channel: "lines", to: "ops" },
      'channel "lines": "ops" is not a valid recipient: the channel does not know such targets',
    ],
    [
      "invalid-recipient",
      { channel: "webchat", to: "line:#ops" },
      'channel "webchat": "line:#ops" is not a valid recipient: it belongs to channel lines',
    ],
    [
      "invalid-recipient",
      { channel: "webchat", to: "me" },
      'channel "webchat": "me" is not a valid recipient: it is the main session of the agent and takes none',
    ],
    [
      "invalid-recipient",
      { channel: "lines", to: "#ops\ud83d" },
      'channel "lines": "#ops\ud83d" is not a valid recipient: to: lone surrogates (halves of a character) are not allowed',
    ],
    [
      "invalid-recipient",
      { channel: "last", to: "line:#ops", accountId: "a\u0000" },
      'channel "last": "line:#ops" is not a valid recipient: accountId: control characters are not allowed',
    ],
  ])("%s: %j", async (code, changes, text) => {
    await expect(to(changes)).rejects.toMatchObject({ code, message: text });
    await expect(messaging.deliver(message(changes))).rejects.toMatchObject({ code });
  });

  test("there is no last one, for no message from outside was taken yet", async () => {
    expect(await messaging.lastRoute("agent:main:main")).toBeUndefined();
    expect(messaging.channels()).toEqual(["webchat", "lines", "posts"]);
  });
});

describe("a channel that refuses a message for good", () => {
  test("fails it with a reason for the operator, and a note in the session", async () => {
    const request = message({ channel: "lines", to: "#ops", sessionKey: "agent:main:hook:lines" });
    const error = "not a member";

    expect(await ended(request)).toEqual({ state: "failed", error });
    expect((await history("agent:main:hook:lines")).map(({ text }) => text)).toEqual([
      "[delivery]\n\nMessage to lines (#ops) not delivered: the channel refused it",
    ]);
    const ids = {
      uid: request.uid,
      channel: "lines",
      accountId: "home",
      to: "#ops",
      sessionKey: "agent:main:hook:lines",
      agentId: "main",
      origin: "hook",
    };
    await eventually(
      () =>
        expect(told).toEqual([{ hook: "outbound.failed", event: { ...ids, error, attempt: 1, permanent: true, outcome: "failed" } }]) ??
        true,
    );
    expect(
      gw.logs.some(({ level, message: line }) => level === "warn" && line.includes(request.uid) && line.includes("will not be retried")),
    ).toBe(true);
  });
});

describe("an account that the config does not have", () => {
  test("can never take a message", async () => {
    const error = 'channel "lines" has no account "work"; see svc channels status';
    expect(await ended(message({ channel: "lines", to: "#ops", accountId: "work" }))).toEqual({ state: "failed", error });
  });
});

describe("plugins", () => {
  test("may change the text on its way, and hear that it was taken; where it goes stays", async () => {
    sending = (event) => ({ ...event, text: event.text.toUpperCase(), channel: "lines" });
    const request = message();
    await ended(request);

    expect(await ofMain(request.uid)).toEqual([{ id: request.uid, text: "HELLO." }]);
    await eventually(
      () =>
        expect(told).toMatchObject([
          { hook: "outbound.sent", event: { uid: request.uid, channel: "webchat", messageId: request.uid, attempt: 1 } },
        ]) ?? true,
    );
  });

  test("may hold it back", async () => {
    sending = (event) => ({ ...event, cancel: true, reason: "it names a customer" });
    const request = message();

    expect(await ended(request)).toEqual({ state: "failed", error: "a plugin held it back: it names a customer" });
    expect(await ofMain(request.uid)).toEqual([]);
  });

  test("that answer nonsense change nothing", async () => {
    sending = (event) => ({ ...event, text: 7 as unknown as string });
    const request = message();
    await ended(request);
    expect(await ofMain(request.uid)).toEqual([{ id: request.uid, text: "Hello." }]);
  });
});

describe("who waits for a message", () => {
  test("that nobody has handed over is told so", async () => {
    await expect(messaging.waitDelivered("nobody")).rejects.toMatchObject({ code: "unknown-delivery" });
  });

  test("stops when its signal says so, or its time is over", async () => {
    const uid = randomUUID();
    const at = Date.now();
    const delivery = { uid, dir: "out" as const, lane: uid, payload: {}, expiresAt: at + 3_600_000 };
    await gw.service("store@2").commit([
      { op: "delivery.accept", delivery, at },
      { op: "delivery.claim", uid, to: "sending", leaseBoot: "elsewhere", at },
    ]);
    const gone = new AbortController();
    const waiting = messaging.waitDelivered(uid, { signal: gone.signal });
    gone.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    await expect(messaging.waitDelivered(uid, { timeoutMs: 1 })).rejects.toMatchObject({ code: "wait-timeout" });

    const notBefore = at + 3_600_000;
    const owner = { leaseBoot: "elsewhere", attempt: 1 };
    await gw
      .service("store@2")
      .commit([{ op: "delivery.requeue", uid, from: ["sending"], owner, to: "uncertain", notBefore, result: { reason: "cut off" }, at }]);
    expect(await messaging.waitDelivered(uid, { timeoutMs: 1 })).toEqual({ state: "uncertain", error: "cut off" });
  });
});

describe("an operator", () => {
  const failed = async () => {
    const request = message({ channel: "lines", to: `#${randomUUID().slice(0, 8)}` });
    await ended(request);
    return request.uid;
  };
  const state = async (uid: string) => (await gw.service("store@2").deliveries.get(uid))?.state;

  test("sees what was not delivered, and everything else when asked for", async () => {
    const uid = await failed();
    const sent = message();
    await ended(sent);

    const lost = await gw.rpc<{ messages: JsonObject[]; counts: JsonObject }>("messaging.queue.list", {});
    expect(lost.messages[0]).toMatchObject({ uid, state: "failed", attempt: 1, reason: "not a member" });
    expect(lost.messages.some((m) => m.uid === sent.uid)).toBe(false);
    expect(lost.counts).toMatchObject({ accepted: expect.any(Number), done: expect.any(Number), failed: expect.any(Number) });
    expect(JSON.stringify(lost)).not.toContain("Hello.");
    const all = await gw.rpc<{ messages: JsonObject[] }>("messaging.queue.list", { all: true, limit: 1 });
    expect(all.messages).toMatchObject([{ uid: sent.uid, state: "done", messageId: sent.uid }]);
    expect(await gw.rpc("status", {})).toMatchObject({ outbound: { failed: expect.any(Number) } });
  });

  test("sends one again, which starts over with all its tries, and leaves another note", async () => {
    const uid = await failed();
    const notes = async () => (await history("agent:main:hook:a")).filter(({ id }) => id.startsWith(`${uid}:`));
    expect(await notes()).toHaveLength(1);
    expect(await gw.rpc("messaging.queue.retry", { uid })).toEqual({ ok: true, uid });
    await eventually(
      async () => expect(await gw.service("store@2").deliveries.get(uid)).toMatchObject({ state: "failed", attempt: 1 }) ?? true,
    );
    expect(await notes()).toHaveLength(2);
    await expect(gw.rpc("messaging.queue.retry", { uid: "nobody" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("gives up one that waits, with a note; not one that has ended", async () => {
    const uid = randomUUID();
    const at = Date.now();
    const payload = {
      v: 1,
      route: { channel: "lines", to: "#x" },
      text: "Hello.",
      origin: "hook",
      sessionKey: "agent:main:hook:dropped",
      agentId: "main",
    };
    const delivery = { uid, dir: "out" as const, lane: uid, payload, expiresAt: at + 3_600_000 };
    await gw.service("store@2").commit([
      { op: "delivery.accept", delivery, at },
      { op: "delivery.claim", uid, to: "sending", leaseBoot: "elsewhere", at },
      { op: "delivery.requeue", uid, from: ["sending"], owner: { leaseBoot: "elsewhere", attempt: 1 }, notBefore: at + 3_000_000, at },
    ]);
    expect(await gw.rpc("messaging.queue.drop", { uid })).toEqual({ ok: true, uid });
    expect(await state(uid)).toBe("failed");
    expect((await history("agent:main:hook:dropped")).map(({ text }) => text)).toEqual([
      "[delivery]\n\nMessage to lines (#x) not delivered: an operator has dropped it",
    ]);
    await expect(gw.rpc("messaging.queue.drop", { uid })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });
});
