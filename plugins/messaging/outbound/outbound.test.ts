import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Channel,
  type ChannelRun,
  definePlugin,
  type MarkdownIR,
  type MessageRoute,
  type Messaging,
  NotDispatchedError,
  type OutboundMessage,
  type OutboundRequest,
  SendRefusedError,
  type Store,
} from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type InlinePlugin, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

/** Texts of agents on their way to a platform that stands in the test. */

interface Sent extends OutboundMessage {
  account: string;
}

let gw: TestGateway;
let messaging: Messaging;
let store: Store;
const sent: Sent[] = [];
/** Errors of the next calls, in order; then the platform takes everything. */
let faults: Array<Error | undefined> = [];
let onSend: ((message: OutboundMessage) => Promise<void>) | undefined;
/** Files that a channel has read while it sent. */
const read: string[] = [];
const told: string[] = [];
const runs = new Map<string, ChannelRun>();

/** Marks of the platform. */
const marks: Partial<Record<MarkdownIR["spans"][number]["kind"], string>> = { bold: "*", italic: "/", codeBlock: "|" };

const board: Channel = {
  id: "board",
  meta: { label: "Board", aliases: ["pinboard"] },
  capabilities: { chatTypes: ["direct"], multiAccount: true, replyTo: true },
  config: {
    list: ({ channels }) => Object.keys(channels.board?.accounts ?? {}),
    resolve: (_config, accountId) => ({ accountId, enabled: true }),
    inspect: () => ({ enabled: true, configured: true, missing: [] }),
  },
  async start({ signal, state }) {
    state({ lifecycle: "ready" });
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
  async send(message, { account }) {
    await onSend?.(message);
    const fault = faults.shift();
    if (fault) throw fault;
    sent.push({ ...message, account: account.accountId });
    return { messageId: `id ${sent.length}`, at: Date.now() };
  },
  target: { normalize: (raw) => /^#[\w-]+$/.exec(raw.trim())?.[0] ?? null, format: (target) => target },
  text: {
    limit: 50,
    unit: "bytes",
    render({ text, spans }) {
      const [span] = spans;
      const mark = (span && marks[span.kind]) ?? "";
      if (text.includes("cannot be shown")) throw new Error("no such letter");
      return { text: span ? text.slice(0, span.start) + mark + text.slice(span.start, span.end) + mark + text.slice(span.end) : text };
    },
  },
};

const manifest: NonNullable<InlinePlugin["manifest"]> = {
  id: "board-plugin",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  permissions: ["hooks.conversation"],
  contributes: { channels: ["board", "files"] },
  channelConfigs: { board: { type: "object" }, files: { type: "object" } },
};

const config = {
  agents: { defaults: { skipBootstrap: true } },
  plugins: { entries: { "board-plugin": { grants: ["hooks.conversation"] } } },
  channels: {
    defaults: { chunkMode: "length" as const },
    board: {
      accounts: { wide: {}, narrow: { textChunkLimit: 12, chunkMode: "newline" as const, markdown: { tables: "bullets" as const } } },
    },
  },
};

beforeAll(async () => {
  const plugin = definePlugin({
    id: "board-plugin",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      ctx.registerChannel({ ...board, start: (run) => board.start(runs.set(run.account.accountId, run) && run) });
      const media = { in: false, out: true, maxBytes: 1_000 };
      ctx.registerChannel({ ...board, id: "files", meta: { label: "Files" }, capabilities: { ...board.capabilities, media } });
      for (const hook of ["outbound.sent", "outbound.failed"] as const)
        ctx.on(hook, ({ uid, part }) => void told.push(`${hook} ${uid} ${part ? `${part.index}/${part.of}` : "whole"}`));
    },
  });
  const shelf = definePlugin({
    id: "shelf-plugin",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup: (ctx) => void ctx.registerChannel({ ...board, id: "shelf", meta: { label: "Shelf" } }),
  });
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", { definition: plugin, manifest }, shelf],
    models: [fakeModel([{ text: "ok" }])],
    config,
  });
  messaging = gw.service("messaging@1");
  store = gw.service("store@2");
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  sent.length = 0;
  told.length = 0;
  faults = [];
  read.length = 0;
  onSend = undefined;
});

const request = (text: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  uid: randomUUID(),
  sessionKey: "agent:main:hook:a",
  agentId: "main",
  channel: "board",
  accountId: "wide",
  to: `#${randomUUID()}`,
  text,
  origin: "hook",
  ...more,
});

async function delivered(one: OutboundRequest) {
  await messaging.deliver(one);
  return messaging.waitDelivered(one.uid);
}

const texts = () => sent.map(({ text }) => text?.text);
const sentence = (word: string) => `${word.repeat(9)} ${word.repeat(9)} ${word.repeat(9)}.`;
const long = ["a", "b", "c"].map((word) => sentence(word)).join(" ");

describe("a text for a channel", () => {
  test("is Markdown there, and in the form of the channel at the other side", async () => {
    expect(await delivered(request("a **bold** word"))).toEqual({ state: "done", messageId: "id 1" });
    expect(texts()).toEqual(["a *bold* word"]);
  });

  test("that is too long for it goes out as several messages, in order, under one uid", async () => {
    const one = request(long);
    const answers = await Promise.all([messaging.deliver(one), messaging.deliver(one)]);
    expect(answers.map(({ uid }) => uid)).toEqual([one.uid, one.uid]);
    expect(await messaging.waitDelivered(one.uid)).toEqual({ state: "done", messageId: "id 1" });

    expect(texts()).toEqual([sentence("a"), sentence("b"), sentence("c")]);
    expect(sent.map(({ uid }) => uid)).toEqual([one.uid, `${one.uid}#2`, `${one.uid}#3`]);
    await messaging.deliver(one);
    expect(await messaging.waitDelivered(one.uid)).toMatchObject({ state: "done" });
    expect(sent).toHaveLength(3);
    await eventually(() => told.length === 3);
    expect(told).toEqual([1, 2, 3].map((i) => `outbound.sent ${one.uid} ${i}/3`));
  });

  test("is split as its account says, and tables are shown so", async () => {
    const table = "| a | b |\n|---|---|\n| 1 | 2 |";
    await delivered(request(`x\n\n${table}`, { accountId: "narrow" }));
    expect(texts()).toEqual(["x", "*1*\n- b: 2"]);
    sent.length = 0;
    await delivered(request(`x\n\n${table}`));
    expect(texts()).toEqual(["x\n\n|a   | b\n----|----\n1   | 2|"]);
  });

  test("that nothing can be made of is refused before it is a row", async () => {
    const one = request("this cannot be shown");
    await expect(messaging.deliver(one)).rejects.toThrow('channel "board" cannot render this text: no such letter');
    expect(await store.deliveries.get(one.uid)).toBeUndefined();
  });

  test("that would flood the chat ends with a sentence that says so", async () => {
    const one = request("word ".repeat(2_000));
    await delivered(one);
    expect(sent).toHaveLength(100);
    expect(texts().at(-1)).toMatch(/^\[The end of this message is left out: about \d+ more/);
  });

  test("has its limit as a row, too", async () => {
    await expect(messaging.deliver(request("x".repeat(250 * 1024)))).rejects.toMatchObject({ code: "text-too-long" });
  });
});

describe("an answer", () => {
  const settings = (more: object) => gw.reload({ ...config, ...more });
  const board = (more: object) => ({ channels: { ...config.channels, board: { ...config.channels.board, ...more } } });
  afterEach(() => gw.reload(config));

  test("stands behind the prefix of the config, on the same line or before a block; other messages do not", async () => {
    await settings({ messages: { responsePrefix: "[svc]" } });
    await delivered(request("yes"));
    await delivered(request("- one"));
    await delivered(request("as it is", { isAnswer: false }));
    expect(texts()).toEqual(["[svc] yes", "[svc]\n- one", "as it is"]);
  });

  test.each([
    ["first", ["m1", undefined, undefined]],
    ["all", ["m1", "m1", "m1"]],
    ["off", [undefined, undefined, undefined]],
  ])("quotes the message that it answers as replyToMode %j says", async (replyToMode, quoted) => {
    await settings(board({ replyToMode }));
    await delivered(request(long, { replyToId: "m1" }));
    expect(sent.map(({ replyToId }) => replyToId)).toEqual(quoted);
  });

  test("to a message from the channel quotes that message", async () => {
    await settings(board({ dmPolicy: "open", allowFrom: ["*"] }));
    const event = { id: "event-7", chatType: "direct" as const, peer: { id: "#ada" }, sender: { id: "#ada" }, text: "hello" };
    expect(await runs.get("wide")?.receive(event)).toEqual({ status: "accepted" });
    await eventually(() => expect(sent).toMatchObject([{ to: "#ada", replyToId: "event-7", text: { text: "ok" } }]) ?? true);
  });

  test("stays in its session where the policy denies it, by a rule or by the session's own setting", async () => {
    const sessionKey = "agent:main:hook:quiet";
    await settings({ session: { sendPolicy: { rules: [{ action: "deny", match: { keyPrefix: "hook:quiet" } }] } } });
    expect(await delivered(request("shh", { sessionKey }))).toEqual({ state: "done", withheld: "policy" });
    expect(await delivered(request("aloud"))).toMatchObject({ messageId: "id 1" });
    await gw.service("agents@1").inject({ sessionKey, text: "so that there is a session", id: randomUUID() });
    await gw.rpc("sessions.patch", { key: sessionKey, sendPolicy: "allow" });
    expect(await delivered(request("now", { sessionKey }))).toMatchObject({ messageId: "id 2" });
    expect(texts()).toEqual(["aloud", "now"]);
  });
});

describe("files of a message", () => {
  const workspace = () => gw.service("agents@1").list()[0]?.workspace as string;

  test("go with the last message of its text, and are readable while the channel sends it", async () => {
    await mkdir(workspace(), { recursive: true });
    await writeFile(join(workspace(), "plan.pdf"), "%PDF-1.7 plan");
    onSend = async ({ media = [] }) => {
      for (const { path = "" } of media) read.push(await readFile(path, "utf8"));
    };
    const one = request(long, { channel: "files", accountId: "wide", media: [{ path: "plan.pdf" }] });
    expect(await delivered(one)).toMatchObject({ state: "done" });
    expect(sent.map(({ media }) => media?.map(({ mime, name }) => [mime, name]))).toEqual([
      undefined,
      undefined,
      [["application/pdf", "plan.pdf"]],
    ]);
    expect(read).toEqual(["%PDF-1.7 plan"]);

    sent.length = 0;
    expect(await delivered(request("", { channel: "files", media: [{ path: "plan.pdf", name: "../The plan" }] }))).toMatchObject({
      state: "done",
    });
    expect(sent).toMatchObject([{ media: [{ name: "The plan" }] }]);
    expect(sent[0]?.text).toBeUndefined();
  });

  test("are refused for good when they are elsewhere, too large, or inside the network", async () => {
    await writeFile(join(workspace(), "large.txt"), "x".repeat(2_000));
    for (const [media, error] of [
      [{ path: "/etc/passwd" }, 'the file "passwd" is outside the agent\'s workspace'],
      [{ path: "large.txt" }, 'the file "large.txt" is larger than 1000 bytes'],
      [{ path: "none" }, 'the file "none" is not there'],
      [{ url: "http://127.0.0.1:1/a.png" }, "the address of the file is not public"],
    ] as const)
      expect(await delivered(request("see", { channel: "files", media: [media] }))).toMatchObject({ state: "failed", error });
    const tooMany = request("see", { channel: "files", media: Array.from({ length: 11 }, () => ({ path: "a" })) });
    await expect(messaging.deliver(tooMany)).rejects.toMatchObject({ code: "invalid-media" });
    await expect(messaging.deliver(request("see", { media: [{ url: "file:///etc/passwd" }] }))).rejects.toMatchObject({
      code: "invalid-media",
    });
    expect(sent).toEqual([]);
  });

  test("are their addresses and names on a channel that takes none", async () => {
    await delivered(request("see", { media: [{ url: "https://a.test/b.png" }, { path: "/tmp/plan.pdf" }] }));
    expect(texts()).toEqual(["see\n\nhttps://a.test/b.png\n[file: plan.pdf]"]);
  });
});

describe("a place", () => {
  const to = (more: Partial<OutboundRequest>) => messaging.resolveTarget(request("x", { accountId: undefined as never, ...more }));
  const known = (sessionKey: string, lastRoute: MessageRoute) => async () => {
    await gw.service("agents@1").inject({ sessionKey, text: "hello", id: randomUUID() });
    await store.commit([{ op: "session.patch", key: sessionKey, patch: { lastRoute } }]);
  };

  test("is that of the plugin which brings this one channel, or of another name", async () => {
    for (const channel of ["Pinboard", "board"])
      expect(await to({ channel, to: "#a" })).toEqual({ channel: "board", to: "#a", accountId: "wide" });
    expect(["shelf-plugin", "board-plugin", "none"].map((name) => messaging.channelOf(name))).toEqual(["shelf", undefined, undefined]);
    expect(await to({ channel: "shelf-plugin", to: "#a" })).toMatchObject({ channel: "shelf", to: "#a" });
  });

  test("last is where the session heard from somebody, else where the main session did", async () => {
    const route = { channel: "board", accountId: "narrow", to: "#main", threadId: "t" };
    await known("agent:main:main", route)();
    await known("agent:main:board:direct:ada", { ...route, to: "#ada" })();
    expect(await to({ channel: "last", to: undefined as never })).toEqual(route);
    expect(await to({ channel: "last", to: undefined as never, sessionKey: "agent:main:board:direct:ada" })).toMatchObject({ to: "#ada" });
  });

  test("last with another recipient is the same account, but not its thread", async () => {
    expect(await to({ channel: "last", to: " #other " })).toEqual({ channel: "board", accountId: "narrow", to: "#other" });
    expect(await to({ channel: "last", to: "#main" })).toMatchObject({ to: "#main", threadId: "t" });
    await expect(to({ channel: "last", to: "nobody" })).rejects.toMatchObject({ code: "invalid-recipient" });
  });
});

describe("a message in parts", () => {
  test("goes on with the part that was refused for now; those that were taken are not sent again", async () => {
    faults = [undefined, new NotDispatchedError("away", { retryAfterMs: 1 }), undefined];
    expect(await delivered(request(long))).toMatchObject({ state: "done" });
    expect(texts()).toEqual([sentence("a"), sentence("b"), sentence("c")]);
  });

  test("ends with a part that is refused for good: one note, and no end without its middle", async () => {
    faults = [undefined, new SendRefusedError("not a member", { isPermanent: true })];
    const one = request(long, { sessionKey: "agent:main:hook:cut" });
    expect(await delivered(one)).toMatchObject({ state: "failed", error: "not a member" });
    const reason = "an earlier part of the message was not delivered";
    await eventually(async () => expect((await store.deliveries.get(`${one.uid}#3`))?.result).toMatchObject({ reason }) ?? true);
    expect(texts()).toEqual([sentence("a")]);
    const session = await store.sessions.get("agent:main:hook:cut");
    const page = await store.messages.page(session?.sessionId ?? "", { limit: 10 });
    expect(page.map(({ content }) => content.map((block) => ("text" in block ? block.text : "")).join(""))).toEqual([
      `[delivery]\n\nMessage (from part 2 of 3 on) to board (${one.to}) not delivered: the channel refused it`,
    ]);
    await eventually(() => told.length === 2);
    expect(told).toEqual([`outbound.sent ${one.uid} 1/3`, `outbound.failed ${one.uid} 2/3`]);

    // An operator names the message; what has arrived is not sent again.
    await gw.rpc("messaging.queue.retry", { uid: one.uid });
    expect(await messaging.waitDelivered(one.uid)).toMatchObject({ state: "done" });
    expect(texts()).toEqual([sentence("a"), sentence("b"), sentence("c")]);
  });

  test("is dropped as a whole", async () => {
    faults = [undefined, new NotDispatchedError("away", { retryAfterMs: 600_000 })];
    const one = request(long);
    await messaging.deliver(one);
    await eventually(
      async () => expect(await store.deliveries.get(`${one.uid}#2`)).toMatchObject({ state: "accepted", attempt: 1 }) ?? true,
    );
    await gw.rpc("messaging.queue.drop", { uid: one.uid });
    expect(await messaging.waitDelivered(one.uid)).toMatchObject({ state: "failed", error: "an operator has dropped it" });
    await eventually(async () => expect(await store.deliveries.get(`${one.uid}#3`)).toMatchObject({ state: "failed" }) ?? true);
    expect(texts()).toEqual([sentence("a")]);
  });

  test("has parts also where its uid leaves no room for their number", async () => {
    const one = request(long, { uid: "u".repeat(200) });
    expect(await delivered(one)).toMatchObject({ state: "done" });
    expect(sent).toHaveLength(3);
    expect(sent.every(({ uid }) => uid.length <= 200)).toBe(true);
  });
});
