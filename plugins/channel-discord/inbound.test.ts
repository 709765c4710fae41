import { readFile } from "node:fs/promises";
import { eventually } from "svc/sdk/testing";
import { expect } from "vitest";
import {
  ADA,
  BOT,
  CLOSED,
  DIRECT,
  discordStage,
  GUILD,
  LOCKED,
  NEWS,
  ROOM,
  received,
  recovered,
  THREAD,
} from "../../test/fixtures/discord-stage.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import { Receiving } from "./receiving.ts";

const { describe, test } = await needsPackages("channel-discord");
const stage = discordStage();

describe("messages from Discord", () => {
  test("in servers say where, who, with which roles, and whether the bot is meant", async () => {
    const account = stage.drive();
    await account.is("ready");
    const mine = { id: "50", channel_id: ROOM, content: "earlier", author: { id: BOT.id, username: "svc_bot", bot: true } };
    stage.inRoom("all of you");
    stage.inRoom(`<@${BOT.id}> hello <@4712>`, { mentions: [{ id: "4712", username: "bob" }] });
    stage.inRoom(`<@!${BOT.id}> /new`);
    stage.inRoom("I agree", {
      type: 19,
      message_reference: { message_id: "50", channel_id: ROOM },
      referenced_message: mine,
      mentions: [mine.author],
    });
    stage.inRoom("in a thread", { channel_id: THREAD });
    stage.inRoom("news", { channel_id: NEWS });
    stage.inRoom("I am a program", { author: { id: "88", username: "other", bot: true } });
    stage.inRoom("a hook", { webhook_id: "99", author: { id: "99", username: "hook" } });
    stage.inRoom("mine", { author: mine.author });
    stage.inRoom("somebody has joined", { type: 7 });
    stage.inRoom("last");
    await received(account, "last");

    const where = { chatType: "group", peer: { id: ROOM, name: "#kitchen" }, teamId: GUILD };
    const sender = { id: ADA.id, name: "Ada L (ada)", roles: ["77", "78"] };
    expect(account.inbox).toMatchObject([
      { ...where, sender, mentions: { explicit: false, implicit: [] }, providerAt: Date.parse("2026-01-02T03:04:05Z") },
      { text: "hello @bob", mentions: { explicit: true } },
      { text: "/new", mentions: { explicit: true } },
      {
        replyTo: { id: `${ROOM}:50`, text: "earlier", senderId: BOT.id, isBot: true },
        mentions: { explicit: false, implicit: ["replyToBot"] },
      },
      { ...where, threadId: `t${THREAD}`, parentPeerId: ROOM },
      { chatType: "channel", peer: { id: NEWS } },
      { sender: { id: "88", isBot: true } },
      { sender: { id: "99", isBot: true } },
      { sender: { id: BOT.id, isSelf: true } },
      { text: "last" },
    ]);
    expect(account.inbox[0]?.threadId).toBeUndefined();
  });

  test("in a channel that nobody has announced are asked for once, and wait while Discord does not say", async () => {
    const account = stage.drive();
    await account.is("ready");
    stage.discord.gateway.push(BOT, "THREAD_DELETE", { id: THREAD });
    const [limited, refused] = [
      { status: 429, headers: { "retry-after": "0.4" }, body: { message: "You are being rate limited.", retry_after: 0.4, global: false } },
      { status: 401, body: { message: "401: Unauthorized", code: 0 } },
    ];
    stage.discord.script("GET /channels/:id", { status: 503 }, "cut", refused, { status: 403, body: {} }, limited);
    stage.inRoom("where am I", { channel_id: THREAD });
    stage.inRoom("once more", { channel_id: THREAD });
    await received(account, "once more");

    expect(account.inbox.map(({ threadId }) => threadId)).toEqual([`t${THREAD}`, `t${THREAD}`]);
    expect(stage.discord.calls.filter(({ route }) => route === "/channels/:id")).toHaveLength(1);
    // The wait that Discord names is kept: one more try may come a moment early.
    expect(account.logs.filter((line) => line.includes("too many requests")).length).toBeLessThanOrEqual(2);
  });

  test("of people who are not taken on leave their files where they are", async () => {
    stage.discord.files.set("a.png", Buffer.from("picture"));
    const account = stage.drive();
    await account.is("ready");
    account.run.admits = async ({ text }) => text !== "unwanted";
    const url = `${stage.discord.url.replace("/api", "/files")}/a.png`;
    for (const content of ["unwanted", "wanted"])
      stage.push({ content, attachments: [{ filename: "a.png", content_type: "image/png", size: 7, url }] });
    await received(account, "wanted");
    expect(account.inbox.map(({ media }) => media)).toMatchObject([
      [{ kind: "image", mime: "image/png", name: "a.png", bytes: 7 }],
      [{ path: expect.any(String) }],
    ]);
    expect(account.inbox[0]?.media?.[0]?.path).toBeUndefined();
  });

  test("beyond a hundred stop the reading of a connection that opens meanwhile", async () => {
    const account = stage.drive();
    await account.is("ready");
    account.run.receive = () => new Promise(() => undefined);
    const progress = { isNew: () => true, stored: () => undefined, session: { id: "s" } };
    const receiving = new Receiving({
      run: account.run,
      progress,
      places: { learn: () => undefined, rememberDirect: () => undefined },
    } as never);
    const push = (seq: number) =>
      receiving.push("MESSAGE_CREATE", { id: "1", channel_id: DIRECT, content: "x", author: ADA }, { seq, self: BOT as never });
    for (let seq = 1; seq <= 100; seq++) push(seq);
    let pauses = 0;
    receiving.linked({ pause: () => void pauses++, resume: () => undefined });
    // A socket that is still connecting cannot be paused.
    expect(pauses).toBe(0);
    push(101);
    expect(pauses).toBe(1);
  });

  test("with files come with them; too large ones and those of other hosts are only named", async () => {
    stage.discord.files.set("a.png", Buffer.from("\x89PNG picture", "latin1"));
    stage.discord.files.set("lie.bin", Buffer.alloc(4_000));
    const account = stage.drive({ maxFileBytes: 2_000 });
    await account.is("ready");
    const root = stage.discord.url.replace("/api", "/files");
    stage.push({
      content: "look",
      attachments: [
        { filename: "a.png", content_type: "image/png", size: 12, url: `${root}/a.png` },
        { filename: "huge.zip", content_type: "application/zip", size: 50_000, url: `${root}/a.png` },
        { filename: "lie.bin", size: 3, url: `${root}/lie.bin` },
        { filename: "other", size: 3, url: "http://127.0.0.1:9/secret" },
        { filename: "evil", size: 3, url: "https://discordapp.com.evil.example/x" },
      ],
    });
    await received(account, "look");

    const [picture, ...others] = account.inbox[0]?.media ?? [];
    expect(picture).toMatchObject({ kind: "image", name: "a.png", bytes: 12 });
    expect(await readFile(picture?.path as string, "latin1")).toBe("\x89PNG picture");
    expect(others.map(({ name, path }) => [name, path])).toEqual(["huge.zip", "lie.bin", "other", "evil"].map((name) => [name, undefined]));
    expect(account.logs.join("\n")).toMatch(/50000 bytes; maxFileBytes allows 2000[\s\S]*none of Discord[\s\S]*none of Discord/);
  });

  test("that are no messages, and frames that are none, stop nothing", async () => {
    const account = stage.drive();
    await account.is("ready");
    for (const broken of [{ author: null }, { content: 5 }, { channel_id: "../x" }, { mentions: "none" }, { attachments: 7 }])
      stage.push({ content: "x", ...broken });
    stage.push({ content: "readable" });
    await received(account, "readable");
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);

    for (const raw of ["no JSON", "[]", '{"op":10,"d":{}}']) {
      stage.discord.gateway.sendRaw(raw);
      await recovered(account);
      account.states.length = 0;
    }
    stage.push({ content: "still here" });
    await received(account, "still here");
  });

  test("are confirmed only when the host has stored them, and wait in order beyond a hundred", async () => {
    const account = stage.drive();
    await account.is("ready");
    let store: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      store = resolve;
    });
    const order: string[] = [];
    account.run.receive = async ({ text }) => {
      await gate;
      order.push(text);
      return { status: "accepted" };
    };
    const taken = Array.from({ length: 150 }, (_, i) => stage.push({ content: `number ${i}` }));
    const beats = stage.discord.gateway.frames.length;
    await eventually(() => expect(taken.some((isTaken) => isTaken())).toBe(false) ?? stage.discord.gateway.frames.length > beats + 3);
    store();
    await eventually(() => taken.every((isTaken) => isTaken()));
    expect(order).toEqual(taken.map((_, i) => `number ${i}`));
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });
});

describe("slash commands", () => {
  const give = (name: string, more: object = {}) => {
    const id = stage.nextId();
    const member = { nick: null, roles: ["77"], user: ADA };
    const place = { channel_id: THREAD, guild_id: GUILD, member };
    return stage.discord.gateway.push(BOT, "INTERACTION_CREATE", {
      id,
      application_id: BOT.applicationId,
      type: 2,
      token: `interaction-secret-${id}`,
      data: { id: "1", name, type: 1 },
      ...place,
      ...more,
    });
  };
  const callbacks = () => stage.discord.calls.filter(({ route }) => route === "/interactions/:id/:token/callback");
  const answers = () => stage.discord.calls.filter(({ method, route }) => method === "PATCH" && route.startsWith("/webhooks"));

  test("are registered where they are missing, and others stay", async () => {
    stage.discord.commands.set(BOT.applicationId, [
      { name: "other", description: "mine", type: 1 },
      { name: "new", description: "Begin a new conversation", type: 1 },
    ]);
    const account = stage.drive({ slashCommands: true });
    await account.is("ready");
    await eventually(() => stage.discord.commands.get(BOT.applicationId)?.some(({ name }) => name === "help"));
    expect(stage.discord.commands.get(BOT.applicationId)?.map(({ name }) => name)).toEqual([
      "other",
      "new",
      "reset",
      "stop",
      "status",
      "queue",
      "help",
    ]);
  });

  test("are acknowledged before the host has them, and answered in their place", async () => {
    const account = stage.drive();
    await account.is("ready");
    let store: () => void = () => undefined;
    account.run.receive = (event) => {
      account.inbox.push(event);
      return new Promise((resolve) => {
        store = () => resolve({ status: "accepted" });
      });
    };
    give("new");
    await eventually(() => callbacks().length === 1);
    const event = await received(account, "/new");
    store();
    expect(callbacks()[0]?.body).toEqual({ type: 5, data: { flags: 64 } });
    expect(event).toMatchObject({
      chatType: "group",
      peer: { id: ROOM },
      threadId: `t${THREAD}`,
      sender: { id: ADA.id, roles: ["77"] },
      mentions: { explicit: true },
    });

    const answer = { uid: "a", to: ROOM, threadId: `t${THREAD}`, replyToId: event.id, text: { text: "A new conversation." } };
    await account.channel.send(answer, account.run);
    await account.channel.send({ ...answer, uid: "b" }, account.run);
    expect(answers().map(({ body }) => [body?.content, body?.flags])).toEqual([["A new conversation.", 4]]);
    expect(stage.posts().map(({ ids }) => ids[0])).toEqual([THREAD]);
    expect(stage.posts()[0]?.body?.message_reference).toBeUndefined();
    give("status");
    await received(account, "/status");
    await account.channel.send({ uid: "c", to: THREAD, text: { text: "in the open" } }, account.run);
    await eventually(() => stage.discord.calls.some(({ method, route }) => method === "DELETE" && route.startsWith("/webhooks")));
    expect(account.logs.join("\n")).not.toContain("interaction-secret");
  });

  test("of strangers are declined, and those that Discord has given up are answered by a message", async () => {
    const account = stage.drive();
    await account.is("ready");
    account.run.receive = async (event) => {
      account.inbox.push(event);
      return { status: event.text === "/stop" ? "dropped" : "accepted" };
    };
    give("stop", { channel_id: DIRECT, guild_id: undefined, member: undefined, user: ADA });
    await eventually(() => answers().some(({ body }) => String(body?.content).includes("not taken")));
    expect(account.inbox[0]).toMatchObject({ chatType: "direct", peer: { id: DIRECT }, sender: { id: ADA.id, name: "Ada (ada)" } });

    stage.discord.script("POST /interactions/:id/:token/callback", { status: 404, body: { code: 10_062, message: "Unknown interaction" } });
    give("status");
    const event = await received(account, "/status");
    await account.channel.send({ uid: "s", to: ROOM, replyToId: event.id, text: { text: "fine" } }, account.run);
    expect(stage.posts().map(({ body }) => body?.content)).toEqual(["fine"]);
  });
});

describe("inspection", () => {
  test("names intents, rights and channels that are missing", async () => {
    const account = stage.drive({ groups: { [ROOM]: {}, [LOCKED]: {}, "*": {} } });
    const inspect = (more: object = {}) => account.channel.audit?.({ ...account.run.account, ...more }, AbortSignal.timeout(5_000));
    expect(await inspect()).toMatchObject([
      { id: "token", ok: true },
      { id: "message content", ok: true },
      { id: "permissions", ok: false, message: '"House" lacks Add Reactions' },
      { id: `channel ${LOCKED}`, ok: false, message: expect.stringContaining("Missing Access") },
    ]);
    expect((await inspect({ token: CLOSED.token }))?.[1]).toMatchObject({
      ok: false,
      message: expect.stringContaining("turn on Message Content"),
    });
    expect(await inspect({ token: "x.y.z" })).toMatchObject([{ id: "token", ok: false }]);
  });

  test("targets are ids, users and mentions, and nothing else", () => {
    const { normalize } = stage.channelWith().target;
    const all = [
      "123",
      " discord:123",
      "channel:123",
      "<#123>",
      "user:123",
      "<@123>",
      "<@!123>",
      "#kitchen",
      "<@123",
      "user:",
      "123>",
      "../1",
    ];
    expect(all.map(normalize)).toEqual(["123", "123", "123", "123", "user:123", "user:123", "user:123", null, null, null, null, null]);
  });
});
