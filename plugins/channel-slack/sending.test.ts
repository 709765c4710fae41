import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type FakeSlack, newTs, type ScriptedAnswer } from "../../test/fakes/slack.ts";
import { ADA, APP, DIRECT, KITCHEN, type SlackStage, slackStage } from "../../test/fixtures/slack-account.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import { createSlackApi } from "./api.ts";
import { TIMING } from "./timing.ts";

const { describe, test } = await needsPackages("channel-slack");

let stage: SlackStage;
let slack: FakeSlack;
beforeEach(async () => {
  stage = await slackStage();
  ({ slack } = stage);
});
afterEach(async () => {
  await stage.close();
  expect(slack.wrong).toEqual([]);
});

const outcome = (work: Promise<unknown>) => work.catch((error: unknown) => error);
const asked = (method: string) => slack.calls.filter((call) => call.method === method);

describe("messages to Slack", () => {
  test.each([
    ["C0NOWHERE", "channel_not_found"],
    ["C0OTHER", "not_in_channel"],
    ["C0OLD", "is_archived"],
    ["U0NOBODY", "user_not_found"],
    ["U0GONE", "user_disabled"],
  ])("to %s fail for ever (%s)", async (to, code) => {
    const account = stage.drive();
    await account.is("ready");

    expect(await outcome(account.send(to, "hi"))).toMatchObject({
      name: "SendRefusedError",
      isPermanent: true,
      message: expect.stringContaining(code),
    });
  });

  test.each<[string, ScriptedAnswer, object, number]>([
    [
      "wait as long as Slack asks",
      { status: 429, headers: { "retry-after": "7" } },
      { name: "SendRefusedError", isPermanent: false, retryAfterMs: 7_000 },
      0,
    ],
    ["wait when Slack does not say how long", { status: 429 }, { name: "SendRefusedError", isPermanent: false, retryAfterMs: 30_000 }, 0],
    ["may be there after a failure of Slack", { status: 503 }, { name: "Error", message: "Slack failed (503, chat.postMessage)" }, 0],
    ["may be there after an error inside Slack", { error: "fatal_error" }, { name: "Error" }, 0],
    ["may be there after a cut", "cut", { name: "Error", message: expect.stringContaining("the call failed") }, 0],
    ["may be there after a cut behind them", "taken, then cut", { name: "Error" }, 1],
    [
      "may be there after an answer of something in between",
      "garbage",
      { name: "Error", message: expect.stringContaining("not from Slack") },
      0,
    ],
    ["may be there when Slack is silent", "silence", { name: "Error", message: "Slack did not answer chat.postMessage in time" }, 0],
    [
      "name the scope that is missing",
      { error: "missing_scope", more: { needed: "chat:write" } },
      { isPermanent: true, message: expect.stringContaining("needs the scope chat:write") },
      0,
    ],
  ])("%s, and are sent once", async (_name, answer, expected, taken) => {
    const account = stage.drive({}, { callMs: 1_000 });
    await account.is("ready");
    // A second answer is there for a library that would try again by itself.
    slack.script("chat.postMessage", answer);

    expect(await outcome(account.send(KITCHEN, "hi"))).toMatchObject(expected);
    expect(asked("chat.postMessage")).toHaveLength(taken);
    expect(await account.send(KITCHEN, "again")).toMatchObject({ messageId: expect.stringMatching(/^C0KITCHEN:/) });
    expect(JSON.stringify([account.logs, account.states])).not.toContain(APP.botToken);
  });

  test("that cannot leave say so, and a conversation that was not opened has got nothing", async () => {
    const account = stage.drive();
    await account.is("ready");
    slack.script("conversations.open", "cut");
    expect(await outcome(account.send(ADA, "hi"))).toMatchObject({ name: "NotDispatchedError" });
    expect(await account.send(ADA, "hi")).toMatchObject({ messageId: expect.stringMatching(/^D0ADA:/) });
    await account.send(ADA, "and again");
    expect(asked("conversations.open")).toHaveLength(1);
    await account.stop();
    expect(await outcome(account.send(ADA, "late"))).toMatchObject({ name: "NotDispatchedError" });
  });

  test("are written in mrkdwn, with everything escaped that Slack would take for a mention or a link", async () => {
    const account = stage.drive();
    await account.is("ready");
    const text = account.channel.text.render({
      text: "a <!channel> & <@U0ADA>\nbold's midword code\nlink bad",
      spans: [
        { kind: "bold", start: 24, end: 28 },
        { kind: "italic", start: 34, end: 37 },
        { kind: "code", start: 39, end: 43 },
        { kind: "link", start: 44, end: 48, href: "https://example.net/?a=1&b=<2>|" },
        { kind: "link", start: 49, end: 52, href: "javascript:alert(1)" },
      ],
    });
    await account.channel.send({ uid: "u", to: KITCHEN, text }, account.run);

    expect(asked("chat.postMessage")[0]?.params).toEqual({
      channel: KITCHEN,
      text: "a &lt;!channel&gt; &amp; &lt;@U0ADA&gt;\n*bold*'s mid\u200B_wor_\u200Bd `code`\n<https://example.net/?a=1&amp;b=%3C2%3E%7C|link> bad (javascript:alert(1))",
      unfurl_links: "false",
      unfurl_media: "false",
    });
  });

  test("are changed, removed and reacted to by their ids; what is so already is fine", async () => {
    const account = stage.drive();
    await account.is("ready");
    const { messageId } = await account.send(ADA, "first");
    const target = { to: ADA, messageId };
    await account.channel.edit?.({ ...target, text: { text: "second" } }, account.run);
    slack.script("reactions.add", { error: "already_reacted" });
    await account.channel.react?.({ ...target, emoji: "👀" }, account.run);
    await account.channel.react?.({ ...target, emoji: ":party-svc:" }, account.run);
    slack.script("chat.delete", { error: "message_not_found" });
    await account.channel.unsend?.(target, account.run);

    expect(asked("chat.update")[0]?.params).toMatchObject({ channel: DIRECT, ts: messageId.slice("D0ADA:".length), text: "second" });
    expect(asked("reactions.add")[0]?.params).toMatchObject({ name: "party-svc" });
    expect(await outcome(account.channel.react?.({ ...target, emoji: "🦖" }, account.run) as Promise<void>)).toMatchObject({
      isPermanent: true,
    });
    slack.script("chat.update", { error: "cant_update_message" });
    expect(await outcome(account.channel.edit?.({ ...target, text: { text: "no" } }, account.run) as Promise<void>)).toMatchObject({
      isPermanent: true,
    });
  });
});

describe("files to Slack", () => {
  test("are uploaded first, and shared with the text in one call, also in a thread", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-slack-"));
    try {
      await writeFile(join(folder, "a.png"), "a picture");
      await writeFile(join(folder, "empty"), "");
      const account = stage.drive();
      await account.is("ready");
      const thread = newTs();
      const media = [
        { mime: "image/png", path: join(folder, "a.png"), name: "Ada.png" },
        { mime: "text/plain", path: join(folder, "a.png") },
      ];
      const send = (more: object) => account.channel.send({ uid: "u", to: ADA, media, text: { text: "both" }, ...more }, account.run);

      const { messageId } = await send({ threadId: thread });

      expect(slack.shared).toEqual([
        { channel: DIRECT, name: "Ada.png", content: Buffer.from("a picture"), comment: "both", thread },
        { channel: DIRECT, name: "a.png", content: Buffer.from("a picture"), comment: "both", thread },
      ]);
      await account.channel.unsend?.({ to: ADA, messageId }, account.run);
      expect(asked("files.delete")[0]?.params).toEqual({ file: messageId.slice("D0ADA:".length) });
      slack.script("files.getUploadURLExternal", "cut");
      expect(await outcome(send({}))).toMatchObject({ name: "NotDispatchedError" });
      slack.script("files.completeUploadExternal", "taken, then cut");
      expect(await outcome(send({}))).toMatchObject({ name: "Error" });
      expect(await outcome(send({ media: [{ mime: "text/plain", path: join(folder, "empty") }] }))).toMatchObject({ isPermanent: true });
      expect(await outcome(send({ threadId: "t1" }))).toMatchObject({ isPermanent: true });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("that take too long have shared nothing, and no message is left behind", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-slack-"));
    try {
      await writeFile(join(folder, "a.png"), "a picture");
      const account = stage.drive({}, { uploadsMs: 2_000 });
      await account.is("ready");
      slack.script("files.getUploadURLExternal", "silence");
      const media = [{ mime: "image/png", path: join(folder, "a.png") }];
      const error = await outcome(account.channel.send({ uid: "u", to: KITCHEN, media }, account.run));
      expect(error).toMatchObject({ name: "NotDispatchedError", message: "the files were not uploaded within 2 s" });
      expect(asked("files.completeUploadExternal")).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test("a file that is refused is not read on", async () => {
  const cancelled: string[] = [];
  const api = (status: number, type: string) => {
    const body = new ReadableStream({ cancel: () => void cancelled.push(type) });
    const answer = async () => new Response(body, { status, headers: { "content-type": type } });
    const library = { WebClient: class {} };
    const account = { apiRoot: "http://127.0.0.1:9/api", botToken: APP.botToken };
    return createSlackApi(account as never, { library, fetch: answer, timing: TIMING, signal: AbortSignal.timeout(5_000) } as never);
  };
  await expect(api(404, "image/png").download("http://127.0.0.1:9/a", "image/png")).rejects.toThrow("404");
  await expect(api(200, "text/html").download("http://127.0.0.1:9/a", "image/png")).rejects.toThrow("files:read");
  expect(cancelled).toEqual(["image/png", "text/html"]);
});
