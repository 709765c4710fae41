import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, vendorIn } from "svc/sdk/testing";
import { afterEach, beforeEach, expect } from "vitest";
import { type FakeTelegram, startFakeTelegram } from "../../test/fakes/telegram.ts";
import { type DrivenAccount, driveAccount } from "../../test/fixtures/driven-account.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import type { TelegramAccount } from "./accounts.ts";
import type { TelegramLibrary } from "./api.ts";
import { createTelegramChannel } from "./channel.ts";
import type { TelegramTiming } from "./timing.ts";
import { createWebhookRoute } from "./webhook.ts";

const { describe, test } = await needsPackages("channel-telegram");

const BOT = { id: 9001, token: "9001:AAEg7xw2n4QbVh0-token", username: "svc_bot" };
const SECRET = "webhook-secret-77aa01";
const ADA = { id: 4711, is_bot: false, first_name: "Ada", last_name: "L", username: "ada" };
const DIRECT = { id: 4711, type: "private" as const, first_name: "Ada" };
const GROUP = { id: -100555, type: "supergroup" as const, title: "Kitchen", topics: [7] };
const BLOCKED = { id: 666, type: "private" as const, first_name: "Eve", isBlocked: true };

let telegram: FakeTelegram;
const ends: Array<() => Promise<unknown>> = [];
beforeEach(async () => {
  telegram = await startFakeTelegram({ bots: [BOT], chats: [DIRECT, GROUP, BLOCKED, { id: -100777, type: "supergroup", title: "New" }] });
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await telegram.close();
  expect(telegram.wrong).toEqual([]);
});

const webhooks = createWebhookRoute();
const channelWith = (times: Partial<TelegramTiming> = {}) =>
  createTelegramChannel({
    load: () => vendorIn(import.meta.dirname).load<TelegramLibrary>("grammy"),
    fetch,
    webhooks,
    times: { reconnectMs: 20, offerMs: 10, groupMs: 50, ...times },
  });

function drive(
  section: object = {},
  times: Partial<TelegramTiming> = {},
): DrivenAccount<TelegramAccount> & { channel: ReturnType<typeof channelWith> } {
  const channel = channelWith(times);
  const account = driveAccount(channel, { token: BOT.token, apiRoot: telegram.url, ...section });
  ends.push(() => account.stop());
  return Object.assign(account, { channel });
}

let count = 0;
function message(more: object, chat: object = DIRECT): object {
  count += 1;
  return { message: { message_id: count, date: 1_700_000_000, chat, from: ADA, ...more } };
}
const say = (text: string, more: object = {}, chat: object = DIRECT) => telegram.push(BOT, message({ text, ...more }, chat));
const received = (account: DrivenAccount<TelegramAccount>, text: string) =>
  eventually(() => account.inbox.find((event) => event.text === text));
const sent = (method: string) => telegram.calls.filter((call) => call.method === method);

describe("messages from Telegram", () => {
  test("are confirmed only when the host has stored them, also after failures", async () => {
    const account = drive();
    let refusals = 2;
    account.run.receive = async (event) => {
      if (refusals-- > 0) throw new Error("no storage");
      account.inbox.push(event);
      return { status: "accepted" };
    };
    const id = say("keep this");
    await received(account, "keep this");
    await eventually(() => telegram.isConfirmed(BOT, id));
    expect(refusals).toBeLessThan(0);
  });

  test("in groups say whether the bot is meant, who it was, and in which topic", async () => {
    const account = drive();
    const { topics: _, ...group } = GROUP;
    say("all of you", {}, group);
    say("@SVC_bot hello", { entities: [{ type: "mention", offset: 0, length: 8 }] }, group);
    say(
      "/new@svc_bot now",
      { entities: [{ type: "bot_command", offset: 0, length: 12 }], message_thread_id: 7, is_topic_message: true },
      group,
    );
    const own = { message_id: 5, date: 1, chat: group, from: { id: BOT.id, is_bot: true, first_name: "svc" }, text: "earlier" };
    say("I agree", { reply_to_message: own }, group);
    say("from above", { sender_chat: { id: -100999, type: "channel", title: "News" } }, group);

    await received(account, "from above");

    expect(account.inbox).toMatchObject([
      {
        chatType: "group",
        peer: { id: "-100555", name: "Kitchen" },
        sender: { id: "4711", name: "Ada L (@ada)" },
        mentions: { explicit: false, implicit: [] },
      },
      { text: "@SVC_bot hello", mentions: { explicit: true } },
      { text: "/new now", mentions: { explicit: true }, threadId: "t7", isTopic: true },
      { replyTo: { id: "-100555:5", isBot: true }, mentions: { implicit: ["replyToBot"] } },
      { sender: { id: "-100999", name: "News" } },
    ]);
  });

  test("in a group of two bots say whose words they answer", async () => {
    const account = drive();
    const { topics: _, ...chat } = GROUP;
    const words = (id: number) => ({ message_id: id, date: 1, chat, from: { id, is_bot: true, first_name: "bot" }, text: "earlier" });
    say("to the other", { reply_to_message: words(9_002) }, chat);
    say("to this one", { reply_to_message: words(BOT.id) }, chat);

    await received(account, "to this one");

    expect(account.inbox.map(({ replyTo, mentions }) => [replyTo?.senderId, replyTo?.isBot, mentions?.implicit])).toEqual([
      ["9002", undefined, []],
      ["9001", true, ["replyToBot"]],
    ]);
  });

  test("that cannot be read are passed over, and those behind them arrive", async () => {
    const account = drive();
    telegram.push(BOT, { message: { message_id: 1, date: 1, from: ADA, text: "nowhere" } });
    telegram.push(BOT, { channel_post: { message_id: 1, date: 1, chat: null, text: "nowhere" } });
    say("broken", { entities: "none" });
    say("broken", { entities: "none", media_group_id: "g2" });
    const last = say("readable");

    await received(account, "readable");
    await eventually(() => telegram.isConfirmed(BOT, last));

    expect(account.inbox.map(({ text }) => text)).toEqual(["readable"]);
    expect(account.logs.filter((line) => line.includes("cannot be read"))).toHaveLength(2);
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });

  test("that have no id, or are nothing, are passed over with one warning, and those around them arrive", async () => {
    telegram.inject(BOT, null, { message: { message_id: 1, date: 1, chat: DIRECT, from: ADA, text: "no id" } }, "update");
    const account = drive();
    for (const text of ["one", "two"]) {
      const id = say(text);
      await received(account, text);
      await eventually(() => telegram.isConfirmed(BOT, id));
    }

    expect(account.inbox.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(account.logs.filter((line) => line.includes("without an id"))).toHaveLength(1);
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });

  test("with pictures come as one message, with their files; too large ones are only named", async () => {
    telegram.files.set("big", { path: "photos/1 a.jpg", content: Buffer.from("\xff\xd8\xff picture", "latin1") });
    telegram.files.set("lie", { path: "documents/2.bin", content: Buffer.alloc(4_000) });
    const account = drive({ maxFileBytes: 2_000 });
    const part = (more: object) => telegram.push(BOT, message({ media_group_id: "g1", ...more }));
    part({
      photo: [
        { file_id: "small", file_size: 5 },
        { file_id: "big", file_size: 11 },
      ],
    });
    part({ document: { file_id: "huge", file_size: 50_000, file_name: "huge.bin", mime_type: "application/zip" } });
    part({ document: { file_id: "lie", file_name: "lie.bin" }, caption: "look at these" });
    const last = say("and after them");

    await received(account, "and after them");
    await eventually(() => telegram.isConfirmed(BOT, last));

    expect(account.inbox.map(({ text }) => text)).toEqual(["look at these", "and after them"]);
    const [picture, huge, lie] = account.inbox[0]?.media ?? [];
    expect(picture).toMatchObject({ kind: "image", bytes: 11 });
    expect(await readFile(picture?.path as string, "latin1")).toBe("\xff\xd8\xff picture");
    expect(huge).toEqual({ kind: "file", mime: "application/zip", name: "huge.bin", bytes: 50_000 });
    expect(lie?.path).toBeUndefined();
    expect(account.logs.join("\n")).toMatch(/50000 bytes; maxFileBytes allows 2000/);
  });

  test("of somebody whom the host does not take on arrive with the names of their files, which are not fetched", async () => {
    telegram.files.set("big", { path: "photos/1 a.jpg", content: Buffer.from("picture") });
    const account = drive();
    account.admits = ({ sender, text }) => sender.id !== "4711" || text !== "let me in";
    say("let me in", { text: undefined, caption: "let me in", document: { file_id: "big", file_size: 7, file_name: "a.bin" } });
    await received(account, "let me in");

    expect(account.inbox[0]?.media).toEqual([{ kind: "file", mime: "application/octet-stream", name: "a.bin", bytes: 7 }]);
    expect(sent("getFile")).toEqual([]);
    expect(account.media).toEqual([]);
  });

  test("of a group that moves are told with its new number", async () => {
    const account = drive();
    telegram.push(BOT, message({ migrate_to_chat_id: -100777 }, { id: -5, type: "group", title: "Old" }));
    await eventually(() => account.logs.some((line) => line.includes("-100777")));
  });
});

describe("messages to Telegram", () => {
  test("are formatted by places in the text, not by marks", async () => {
    const account = drive();
    await account.is("ready");
    const markdown = {
      text: "🙂 *not bold* <b>bold</b> code link",
      spans: [
        { kind: "bold", start: 3, end: 13 },
        { kind: "code", start: 26, end: 30 },
        { kind: "link", start: 31, end: 35, href: "https://example.net/" },
        { kind: "link", start: 31, end: 35, href: "javascript:alert(1)" },
      ],
    } as const;
    const text = account.channel.text.render(markdown as never);

    await account.channel.send({ uid: "u", to: "4711", text }, account.run);

    expect(sent("sendMessage")[0]?.params).toEqual({
      chat_id: "4711",
      text: markdown.text,
      entities: [
        { type: "bold", offset: 3, length: 10 },
        { type: "code", offset: 26, length: 4 },
        { type: "text_link", offset: 31, length: 4, url: "https://example.net/" },
      ],
    });
  });

  test("carry pictures and files, alone or together, with the text below the first", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-telegram-"));
    ends.push(() => rm(folder, { recursive: true }));
    for (const name of ["a.jpg", "b.jpg", "c.txt"]) await writeFile(join(folder, name), `content of ${name}`);
    const media = (name: string, mime: string) => ({ mime, path: join(folder, name), name });
    const account = drive();
    await account.is("ready");
    const send = (files: object[], text: string) =>
      account.channel.send({ uid: "u", to: "4711", media: files as never, text: { text } }, account.run);

    await send([media("a.jpg", "image/jpeg")], "one");
    await send([media("a.jpg", "image/jpeg"), media("b.jpg", "image/jpeg")], "two");
    const { messageId } = await send([media("c.txt", "text/plain")], "x".repeat(1_025));

    expect(sent("sendPhoto")[0]?.params.caption).toBe("one");
    expect(Object.values(sent("sendPhoto")[0]?.files ?? {})).toMatchObject([{ content: Buffer.from("content of a.jpg") }]);
    expect(sent("sendMediaGroup")[0]?.params.media).toMatchObject([{ type: "photo", caption: "two" }, { type: "photo" }]);
    expect(sent("sendDocument")[0]?.params.caption).toBeUndefined();
    expect(messageId).toBe(`4711:${(sent("sendMessage")[0]?.result as { message_id: number } | undefined)?.message_id}`);
  });

  test.each([
    ["nobody knows", "123", { isPermanent: true, message: expect.stringContaining("chat not found") }],
    ["who blocked the bot", "666", { isPermanent: true, message: expect.stringContaining("blocked by the user") }],
  ])("to somebody %s fail for ever", async (_name, to, refusal) => {
    const account = drive();
    await account.is("ready");
    expect(await account.send(to, "hi").catch((error: unknown) => error)).toMatchObject({ name: "SendRefusedError", ...refusal });
  });

  test("wait as long as Telegram asks, follow a group that moved, and are not known after a cut", async () => {
    const account = drive();
    await account.is("ready");
    const attempt = (to = "4711") => account.send(to, "hi").catch((error: unknown) => error);

    telegram.script("sendMessage", { code: 429, description: "Too Many Requests: retry after 7", parameters: { retry_after: 7 } });
    expect(await attempt()).toMatchObject({ name: "SendRefusedError", isPermanent: false, retryAfterMs: 7_000 });
    telegram.script("sendMessage", {
      code: 400,
      description: "Bad Request: group chat was upgraded to a supergroup chat",
      parameters: { migrate_to_chat_id: -100777 },
    });
    expect(await attempt("-5")).toMatchObject({ messageId: expect.stringMatching(/^-100777:/) });
    telegram.script("sendMessage", "cut");
    expect(await attempt()).toMatchObject({ name: "Error" });
    telegram.script("sendMessage", "garbage");
    expect(await attempt()).toMatchObject({ name: "Error", message: expect.stringContaining("not from the Bot API") });
    telegram.script("editMessageText", { code: 400, description: "Bad Request: message is not modified" });
    await account.channel.edit?.({ to: "4711", messageId: "4711:5", text: { text: "same" } }, account.run);
    expect(JSON.stringify(account.logs)).not.toContain(BOT.token);
  });
});

describe("a bot", () => {
  test("whose messages another program asks for says so, and waits", async () => {
    const account = drive({}, { reconnectMs: 60_000 });
    await account.is("ready");
    await eventually(() => telegram.open() > 0);
    await fetch(`${telegram.url}/bot${BOT.token}/getUpdates`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"timeout":0}',
    });

    expect((await account.is("recovering")).lastError).toMatch(/another program asks for the messages of this bot/);
  });

  test("with a webhook of another program is blocked until that is to be replaced; 429 is waited for", async () => {
    telegram.setWebhook(BOT, "https://other.example/hook?secret=abc");
    expect((await drive().is("blocked")).lastError).toMatch(/webhook at other\.example: end that program, or set replaceWebhook/);

    telegram.script("getUpdates", { code: 429, description: "Too Many Requests", parameters: { retry_after: 0 } });
    const account = drive({ replaceWebhook: true });
    say("now it comes here");
    await received(account, "now it comes here");
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });

  test("whose Bot API is away or answers nonsense connects again, and shows no token", async () => {
    telegram.script("getMe", "cut", "garbage", { code: 500, description: "Internal Server Error" });
    const account = drive();
    await account.is("ready");

    const told = JSON.stringify([account.states, account.logs]);
    expect(told).toContain("not from the Bot API");
    expect(told).not.toContain(BOT.token);
    const gone = await startFakeTelegram({ bots: [], chats: [] });
    await gone.close();
    const nowhere = drive({ apiRoot: gone.url }, { reconnectMs: 60_000 });
    expect((await nowhere.is("recovering")).lastError).toMatch(/cannot be reached/);
    expect(JSON.stringify(nowhere.states)).not.toContain(BOT.token);
  });

  test("is audited: token, privacy mode, webhook", async () => {
    telegram.setWebhook(BOT, "https://other.example/hook");
    const channel = channelWith();
    const account = channel.config.resolve({ channels: { telegram: { token: BOT.token, apiRoot: telegram.url } } } as never, "default");

    expect(await channel.audit?.(account, AbortSignal.timeout(5_000))).toMatchObject([
      { id: "token", ok: true },
      { id: "privacy mode", ok: true, message: expect.stringContaining("/setprivacy") },
      { id: "webhook", ok: false },
    ]);
    expect(await channel.probe?.(account, AbortSignal.timeout(5_000))).toMatchObject({ ok: true, identity: "@svc_bot" });
  });
});

describe("a webhook", () => {
  const post = (body: unknown, secret: string | null = SECRET, rest = "default") =>
    webhooks.handle({
      req: new Request("http://gateway/", { headers: secret === null ? {} : { "x-telegram-bot-api-secret-token": secret } }),
      rest,
      bytes: async () => Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    }) as Promise<{ status: number }>;

  test("takes messages with its secret only, and answers when they are stored", async () => {
    const account = drive({ webhook: { url: "https://gateway.example", secret: SECRET } });
    await account.is("ready");
    expect(telegram.webhookOf(BOT)).toEqual({ url: "https://gateway.example/channels/telegram/default", secret: SECRET });
    const update = { update_id: 1, ...message({ text: "by webhook" }) };

    for (const secret of [null, "", "wrong", `${SECRET}x`]) expect((await post(update, secret)).status, String(secret)).toBe(401);
    expect((await post(update, SECRET, "other")).status).toBe(401);
    for (const body of ["no JSON", "[]", "{}"]) expect((await post(body)).status).toBe(400);
    expect(account.inbox).toEqual([]);
    expect((await post(update)).status).toBe(200);
    expect(account.inbox.map(({ text, id }) => [id, text])).toEqual([["1", "by webhook"]]);

    account.run.receive = () => new Promise(() => undefined);
    const waiting = post({ update_id: 2, ...message({ text: "cut off" }) });
    await account.stop();
    expect((await waiting).status).toBe(503);
    expect((await post(update)).status).toBe(401);
    const polling = drive();
    await polling.is("ready");
    expect(telegram.webhookOf(BOT).url).toBe("");
  });

  test("offers an update once, however often it comes before the host has stored it, and holds no more than 100", async () => {
    const account = drive({ webhook: { url: "https://gateway.example", secret: SECRET } });
    await account.is("ready");
    const offered: string[] = [];
    let resume: () => void = () => undefined;
    const host = new Promise<void>((resolve) => {
      resume = resolve;
    });
    account.run.receive = async ({ id }) => {
      offered.push(id as string);
      await host;
      return { status: "accepted" };
    };
    const push = (id: number) => post({ update_id: id, ...message({ text: `number ${id}` }) });

    const waiting = [push(1), push(1), ...Array.from({ length: 99 }, (_, i) => push(i + 2)), push(1)];
    await eventually(() => offered.includes("100"));
    expect((await push(101)).status).toBe(503);
    expect(offered).toHaveLength(100);
    resume();

    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await push(101)).status).toBe(200);
  });
});
