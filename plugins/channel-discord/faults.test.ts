import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { expect } from "vitest";
import {
  ADA,
  BOT,
  CLOSED,
  DIRECT,
  discordStage,
  LOCKED,
  NEWS,
  ROOM,
  received,
  recovered,
  SHUT,
  THREAD,
} from "../../test/fixtures/discord-stage.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import { createRestApi } from "./rest.ts";

const { describe, test } = await needsPackages("channel-discord");
const stage = discordStage();
const POST = "POST /channels/:id/messages";

describe("the connection", () => {
  test.each([
    ["is cut", () => stage.discord.gateway.cut()],
    ["is to be made again", () => stage.discord.gateway.sendRaw('{"op":7,"d":null}')],
    ["is closed with a passing fault", () => stage.discord.gateway.closeWith(4_000)],
  ])("that %s is resumed where it was, with what was missed", async (_name, cut) => {
    const account = stage.drive();
    await account.is("ready");
    stage.push({ content: "before" });
    await received(account, "before");
    stage.discord.script("GET /users/@me", "cut");
    cut();
    await eventually(() => stage.discord.gateway.connections() === 0);
    stage.push({ content: "meanwhile" });
    await received(account, "meanwhile");

    expect(stage.discord.gateway.frames.filter(({ op }) => op === 2)).toHaveLength(1);
    expect(stage.discord.gateway.frames.filter(({ op }) => op === 6)).toHaveLength(1);
    expect(account.inbox.map(({ text }) => text)).toEqual(["before", "meanwhile"]);
  });

  test("of a gateway that starts again goes on at the last stored message", async () => {
    const first = stage.drive();
    await first.is("ready");
    stage.push({ content: "stored" });
    await received(first, "stored");
    await first.stop();
    stage.push({ content: "while nobody was there" });

    const second = stage.drive();
    await received(second, "while nobody was there");
    expect(second.inbox).toHaveLength(1);
    await second.stop();
    const other = stage.drive({ messageContent: false });
    await other.is("ready");
    expect(stage.discord.gateway.frames.filter(({ op }) => op === 2)).toHaveLength(2);
  });

  test("whose session Discord has forgotten begins a new one", async () => {
    const account = stage.drive();
    await account.is("ready");
    stage.discord.gateway.forgets = true;
    stage.discord.gateway.cut();
    await eventually(() => stage.discord.gateway.frames.filter(({ op }) => op === 2).length === 2);
    await recovered(account);
    stage.push({ content: "after" });
    await received(account, "after");
  });

  test("whose address for resuming is gone is resumed at the usual one", async () => {
    stage.discord.gateway.resumeUrl = "ws://127.0.0.1:9/gateway";
    const account = stage.drive();
    await account.is("ready");
    stage.discord.gateway.cut();
    await eventually(() => stage.discord.gateway.connections() === 0);
    stage.push({ content: "meanwhile" });
    await received(account, "meanwhile");
    expect(stage.discord.gateway.frames.filter(({ op }) => op === 2 || op === 6).map(({ op }) => op)).toEqual([2, 6]);
  });

  test("without answers to its heartbeats is taken for dead", async () => {
    await stage.restart(50);
    const account = stage.drive();
    await account.is("ready");
    stage.discord.gateway.isDeaf = true;
    await eventually(() => account.states.some(({ lastError = "" }) => /has not answered a heartbeat/.test(lastError)));
    stage.discord.gateway.isDeaf = false;
    await account.is("ready");
  });

  test("to a gateway that says nothing ends with its limit", async () => {
    stage.discord.gateway.isSilent = true;
    const account = stage.drive({}, { helloMs: 2_000 });
    expect((await account.is("recovering")).lastError).toMatch(/has not sent HELLO within 2 s/);
    stage.discord.gateway.isSilent = false;
    await account.is("ready");
  });

  test("that cannot be opened says why, and is tried again", async () => {
    stage.discord.script("GET /gateway/bot", {
      status: 200,
      body: { url: "ws://127.0.0.1:9/gateway", session_start_limit: { remaining: 1 } },
    });
    stage.discord.script("GET /gateway/bot", { status: 200, body: { url: "https://example.net", session_start_limit: {} } });
    stage.discord.script("GET /gateway/bot", {
      status: 200,
      body: { url: stage.discord.url.replace("http", "ws"), session_start_limit: { remaining: 0, reset_after: 90_000 } },
    });
    const account = stage.drive();
    await account.is("ready");
    const errors = account.states.map(({ lastError }) => lastError).join("\n");
    expect(errors).toMatch(/the gateway of Discord cannot be used: connect ECONNREFUSED/);
    expect(errors).toMatch(/Discord names no gateway/);
    expect(errors).toMatch(/the next one can begin in 2 min/);
  });

  test.each([
    [4_004, /refuses the token: reset it/],
    [4_011, /more servers than one connection/],
    [4_013, /does not know the intents/],
  ])("that is closed with %i blocks the account with the remedy", async (code, remedy) => {
    const account = stage.drive();
    await account.is("ready");
    stage.discord.gateway.closeWith(code);
    expect((await account.is("blocked")).lastError).toMatch(remedy);
    await eventually(() => stage.discord.open() === 0);
  });

  test("of a bot that may not read messages is blocked with the remedy, and works without", async () => {
    const section = { token: CLOSED.token };
    expect((await stage.drive(section).is("blocked")).lastError).toMatch(
      /turn on Message Content Intent .* or set messageContent to false/,
    );
    await stage.drive({ ...section, messageContent: false }).is("ready");
    expect(stage.discord.gateway.frames.findLast(({ op }) => op === 2)?.d).toMatchObject({ intents: 1 | (1 << 9) | (1 << 12) });
  });

  test("with a refused token is blocked, also when a call finds out", async () => {
    const account = stage.drive();
    await account.is("ready");
    stage.discord.script(POST, { status: 401, body: { message: "401: Unauthorized", code: 0 } });
    expect(await account.send(ROOM, "hi").catch((error: unknown) => error)).toMatchObject({ name: "SendRefusedError", isPermanent: false });
    expect((await account.is("blocked")).lastError).toMatch(/refuses the token/);
    expect((await stage.drive({ token: "OTAwMQ.wrong.secret" }).is("blocked")).lastError).toMatch(/refuses the token/);
    expect(JSON.stringify([account.states, account.logs])).not.toContain(BOT.token);
  });
});

describe("messages to Discord", () => {
  test("notify nobody, carry a nonce of their row, and are posted once under it", async () => {
    const account = stage.drive();
    await account.is("ready");
    stage.discord.script(POST, "lost");
    const message = { uid: "row-1", to: ROOM, text: { text: "@everyone <@4711>" }, replyToId: `${ROOM}:50` };
    expect(await account.channel.send(message, account.run).catch((error: unknown) => error)).toMatchObject({ name: "Error" });
    const { messageId } = await account.channel.send(message, account.run);

    const [lost, again] = stage.posts();
    expect(again?.result).toEqual(lost?.result);
    expect(lost?.result).toMatchObject({ id: messageId.replace(`${ROOM}:`, "") });
    expect(again?.body).toMatchObject({
      allowed_mentions: { parse: [] },
      flags: 4,
      enforce_nonce: true,
      message_reference: { message_id: "50", fail_if_not_exists: false },
    });
    await account.channel.edit?.({ to: ROOM, messageId, text: { text: "https://x.example/?told=secret" } }, account.run);
    expect(stage.discord.calls.at(-1)?.body?.flags).toBe(4);
    const loud = stage.drive({ allowedMentions: ["users"] });
    await loud.is("ready");
    await loud.send(ROOM, "<@4711>");
    expect(stage.posts().at(-1)?.body?.allowed_mentions).toEqual({ parse: ["users"] });
  });

  test("reach a user by id, a thread, and files with their text", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-discord-"));
    stage.atEnd(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "a.txt"), "content of a");
    await writeFile(join(folder, "big.bin"), Buffer.alloc(10 * 1024 * 1024 + 1));
    const file = (name: string) => ({ mime: "text/plain", path: join(folder, name), name });
    const account = stage.drive();
    await account.is("ready");

    await account.send(ADA.id, "by id");
    await account.send(`user:${ADA.id}`, "by name of kind");
    await account.channel.send({ uid: "t", to: ROOM, threadId: `t${THREAD}`, text: { text: "soup" } }, account.run);
    await account.channel.send({ uid: "f", to: ROOM, text: { text: "two" }, media: [file("a.txt"), file("a.txt")] }, account.run);

    expect(stage.posts().map(({ ids, body }) => [ids[0], body?.content])).toEqual([
      [DIRECT, "by id"],
      [DIRECT, "by name of kind"],
      [THREAD, "soup"],
      [ROOM, "two"],
    ]);
    expect(
      stage
        .posts()
        .at(-1)
        ?.files.map(({ name, content }) => [name, content.toString()]),
    ).toEqual([
      ["files[0]", "content of a"],
      ["files[1]", "content of a"],
    ]);
    const big = { uid: "b", to: ROOM, media: [file("big.bin")] };
    await expect(account.channel.send(big, account.run)).rejects.toMatchObject({
      isPermanent: true,
      message: expect.stringContaining("10485760"),
    });
  });

  test("that Discord never takes fail for ever, each with its reason", async () => {
    const account = stage.drive();
    await account.is("ready");
    for (const [to, reason] of [
      ["123", /Unknown Channel \(404, 10003\)/],
      [LOCKED, /Missing Access \(403, 50001\)/],
      [SHUT, /Missing Permissions \(403, 50013\)/],
      ["666", /Cannot send messages to this user \(403, 50007\)/],
      ["user:1", /Invalid Recipient/],
      ["nobody", /no channel or user/],
    ] as const) {
      const error = await account.send(to, "hi").catch((thrown: unknown) => thrown);
      expect(error, to).toMatchObject({ name: "SendRefusedError", isPermanent: true, message: expect.stringMatching(reason) });
    }
    expect(await account.send(ROOM, "x".repeat(2_001)).catch((error: unknown) => error)).toMatchObject({ isPermanent: true });
    await account.send(ROOM, "🙂".repeat(2_000));
  });

  test("wait as long as Discord asks, for a route and for all", async () => {
    const account = stage.drive();
    await account.is("ready");
    const attempt = (to = ROOM) => account.send(to, "hi").catch((error: unknown) => error);
    stage.discord.script(POST, {
      status: 429,
      headers: { "retry-after": "7" },
      body: { message: "You are being rate limited.", retry_after: 7, global: false },
    });
    expect(await attempt()).toMatchObject({ name: "SendRefusedError", isPermanent: false, retryAfterMs: 7_000 });
    const used = { "x-ratelimit-limit": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "9", "x-ratelimit-bucket": "b" };
    const last = { status: 200, headers: used, body: { id: "1", channel_id: NEWS } };
    stage.discord.script(POST, last);
    await account.send(NEWS, "the last one of these 9 s");
    const before = stage.posts().length;
    const early = (await attempt(NEWS)) as { retryAfterMs: number };
    expect(early).toMatchObject({ name: "SendRefusedError", isPermanent: false });
    expect(early.retryAfterMs).toBeGreaterThan(1_000);
    expect(stage.posts()).toHaveLength(before);

    stage.discord.script(POST, {
      status: 429,
      headers: { "retry-after": "60", "x-ratelimit-global": "true" },
      body: { message: "global", retry_after: 60, global: true },
    });
    expect(await attempt(THREAD)).toMatchObject({ isPermanent: false, retryAfterMs: expect.any(Number) });
    expect(((await attempt(DIRECT)) as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(5_000);
    expect(stage.posts()).toHaveLength(before);
  });

  test("whose end nobody has seen are not known, and those that never left are", async () => {
    const account = stage.drive({}, { callMs: 2_000 });
    await account.is("ready");
    const attempt = () => account.send(ROOM, "hi").catch((error: unknown) => error);
    for (const [answer, message] of [
      ["cut", /the call failed/],
      ["hang", /did not answer within 2 s/],
      ["garbage", /the call failed/],
      [{ status: 502 }, /a fault of its own \(502\)/],
      [{ status: 200, body: {} }, /names no message/],
    ] as const) {
      stage.discord.script(POST, answer);
      expect(await attempt(), String(message)).toMatchObject({ name: "Error", message: expect.stringMatching(message) });
    }
    stage.discord.script(POST, { status: 403, headers: { "content-type": "text/html" }, body: {} });
    expect(await attempt()).toMatchObject({ name: "SendRefusedError", isPermanent: false });
    const { channel, run } = account;
    await account.stop();
    expect(await channel.send({ uid: "u", to: ROOM, text: { text: "hi" } }, run).catch((error: unknown) => error)).toMatchObject({
      name: "NotDispatchedError",
    });
    expect(JSON.stringify(account.logs)).not.toContain(BOT.token);
  });

  test("show nothing of the token when a refusal repeats it", async () => {
    const account = stage.drive();
    await account.is("ready");
    stage.discord.script(POST, { status: 400, body: { message: `${"x".repeat(290)}${BOT.token}`, code: 50_035 } });
    const { message } = (await account.send(ROOM, "hi").catch((error: unknown) => error)) as Error;
    expect(message).toContain("xxx…");
    expect(message).not.toContain(BOT.token.slice(0, 4));
  });

  test("are written so that nothing in the text is a mark", () => {
    const { render } = stage.channelWith().text;
    const text = "# *a* _b_ `c` [d](e) ~f~ |g| \\ https://x.example/a_b_c\n> q -# s\ncode `` x";
    const spans = [{ kind: "code" as const, start: text.length - 4, end: text.length }];
    expect(render({ text, spans }).text).toBe(
      "\\# \\*a\\* \\_b\\_ \\`c\\` \\[d](e) \\~f\\~ \\|g\\| \\\\ https://x.example/a_b_c\n\\> q -# s\ncode ``\u200b`\u200b\u200b` x``",
    );
    const link = { kind: "link" as const, start: 0, end: 4, href: "https://x.example/?a=b c>" };
    expect(render({ text: "here", spans: [link] }).text).toBe("here (<https://x.example/?a=b%20c%3E>)");
  });
});

test("a file that is refused is not read on", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true;
    },
  });
  const library = {
    REST: class {
      on = () => undefined;
    },
  };
  const account = { token: BOT.token, apiRoot: "http://127.0.0.1:9/api" };
  const api = createRestApi(library as never, async () => new Response(body, { status: 404 }), account as never);
  await expect(api.download("http://127.0.0.1:9/files/a", AbortSignal.timeout(5_000))).rejects.toThrow("cannot be fetched (404)");
  expect(isCancelled).toBe(true);
});
