import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect } from "vitest";
import { type FakeSlack, newTs } from "../../test/fakes/slack.ts";
import { ADA, APP, eventOf, KITCHEN, messageOf, type SlackStage, slackStage } from "../../test/fixtures/slack-account.ts";
import { needsPackages } from "../../test/servers/vendored.ts";

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

const say = (text: string, more: Record<string, unknown> = {}) => slack.push(APP, eventOf(messageOf(text, more)));
const sayDirect = (text: string, more: Record<string, unknown> = {}) => say(text, { channel_type: "im", ...more });
const neverRecovered = (states: Array<{ lifecycle: string }>) => states.every(({ lifecycle }) => lifecycle !== "recovering");

describe("messages from Slack", () => {
  test("come with the names that the app may read, and without those that it may not", async () => {
    slack.grant(APP, ["channels:read"]);
    const account = stage.drive();
    say("who is that?");
    say("and now?");
    await stage.received(account, "and now?");

    expect(account.inbox.map(({ sender }) => sender)).toEqual([{ id: ADA }, { id: ADA }]);
  });

  test("are acknowledged only when the host has stored them, also after failures, and each is stored once", async () => {
    const account = stage.drive();
    await account.is("ready");
    let refusals = 2;
    let store: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      store = resolve;
    });
    account.run.receive = async (event) => {
      if (event.chatType === "direct") return { status: "accepted" };
      if (refusals-- > 0) throw new Error("no storage");
      account.inbox.push(event);
      await held;
      return { status: "accepted" };
    };

    const ts = newTs();
    const envelope = say("<@U0SVC> keep this", { ts });
    await eventually(() => account.inbox.length === 1);
    // Slack repeats what takes long, and sends the event of a mention beside that of the message.
    slack.repeat(envelope);
    const mention = slack.push(APP, eventOf({ ...messageOf("<@U0SVC> keep this", { ts }), type: "app_mention", channel_type: undefined }));
    const behind = sayDirect("behind them");
    await eventually(() => slack.isAcknowledged(behind));
    expect(slack.deliveries(envelope)).toBe(2);
    expect([slack.isAcknowledged(envelope), slack.isAcknowledged(mention)]).toEqual([false, false]);
    store();

    await eventually(() => slack.isAcknowledged(envelope) && slack.isAcknowledged(mention));
    expect(account.inbox.map(({ id }) => id)).toEqual([`${KITCHEN}:${ts}`]);
  });

  test("keep their order in a conversation while the host is busy, and wait for no other conversation", async () => {
    const account = stage.drive();
    await account.is("ready");
    const order: string[] = [];
    let store: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      store = resolve;
    });
    account.run.receive = async ({ text }) => {
      order.push(text);
      if (text === "first") await held;
      return { status: "accepted" };
    };
    say("first");
    const second = say("second");
    const other = sayDirect("elsewhere");
    await eventually(() => slack.isAcknowledged(other));
    expect(slack.isAcknowledged(second)).toBe(false);
    store();

    await eventually(() => slack.isAcknowledged(second));
    expect(order).toEqual(["first", "elsewhere", "second"]);
  });

  test("say who it was, whether the bot is meant, and in which thread; names, links and escapes are written out", async () => {
    const account = stage.drive();
    const [thread, own] = [newTs(), newTs()];
    sayDirect("a &lt;b&gt; &amp;amp; c");
    say("<@U0SVC> /new");
    say(
      "<@U0BEA> see <https://example.net/?a=1&amp;b=2|the page>, <https://example.net>, <mailto:a@b.example|a@b.example> in <#C0KITCHEN> <!here>",
    );
    say("below", { thread_ts: thread, parent_user_id: "U0BEA" });
    say("to the bot", { thread_ts: own, parent_user_id: "U0SVC" });
    await stage.received(account, "to the bot");

    expect(account.inbox).toMatchObject([
      { chatType: "direct", peer: { id: ADA, name: "Ada" }, sender: { id: ADA, name: "Ada" }, text: "a <b> &amp; c", teamId: "T0KITCHEN" },
      { chatType: "group", peer: { id: KITCHEN, name: "#kitchen" }, text: "/new", mentions: { explicit: true, implicit: [] } },
      {
        text: "@Bea see the page (https://example.net/?a=1&b=2), https://example.net, a@b.example in #kitchen @here",
        mentions: { explicit: false },
      },
      { threadId: thread, replyTo: { id: `${KITCHEN}:${thread}`, senderId: "U0BEA" }, mentions: { implicit: [] } },
      { threadId: own, replyTo: { isBot: true }, mentions: { implicit: ["replyToBot"] } },
    ]);
    expect(account.inbox[0]?.mentions).toBeUndefined();
  });

  test("of a thread in which the bot has written count as meant for it, and answers can begin threads", async () => {
    const account = stage.drive({ replyInThread: true });
    await account.is("ready");
    const thread = newTs();
    await account.channel.send({ uid: "u", to: KITCHEN, threadId: thread, text: { text: "my part" } }, account.run);
    say("and then?", { thread_ts: thread, parent_user_id: "U0BEA" });
    const ts = newTs();
    say("something new", { ts });
    await stage.received(account, "something new");

    expect(account.inbox).toMatchObject([{ mentions: { implicit: ["threadParticipation"] } }, { threadId: ts }]);
    expect(account.inbox[1]?.replyTo).toBeUndefined();
  });

  test("of the bot itself, of edits and deletions, are acknowledged and passed over; other bots are said to be bots", async () => {
    const account = stage.drive();
    const passed = [
      say("my own", { user: APP.userId, bot_id: APP.botId }),
      say("my own", { user: undefined, bot_id: APP.botId, subtype: "bot_message" }),
      say("", { subtype: "message_changed", message: { text: "edited" } }),
      say("", { subtype: "message_deleted", deleted_ts: "1700000000.000100" }),
      say("Ada has joined", { subtype: "channel_join" }),
      slack.push(APP, eventOf({ type: "reaction_added", user: ADA })),
      slack.push(APP, { type: "block_actions" }, "interactive"),
    ];
    say("beep", { user: undefined, bot_id: "B0OTHER", subtype: "bot_message", username: "Other" });
    await stage.received(account, "beep");
    await eventually(() => passed.every((id) => slack.isAcknowledged(id)));

    expect(account.inbox).toMatchObject([{ sender: { id: "B0OTHER", name: "Other", isBot: true } }]);
  });

  test("that have no form Slack writes end neither the link nor the process", async () => {
    const account = stage.drive();
    await account.is("ready");
    for (const message of ["no JSON", "null", "[]", { type: "events_api" }, { type: "hello" }, "x".repeat(100_000)])
      slack.raw(APP, message);
    const odd = [
      {},
      { type: "event_callback", event: null },
      eventOf({ type: "close" }),
      eventOf({ type: "message", channel: 5, ts: {}, user: ADA }),
    ];
    const ids = odd.map((payload) => slack.push(APP, payload));
    ids.push(slack.push(APP, eventOf({ type: "tokens_revoked", tokens: { bot: 5 } })));
    say("odd", { text: { not: "text" } });
    say("odd files", { files: [null, 5, { id: {}, mimetype: 7 }] });
    say("readable");
    await stage.received(account, "readable");

    await eventually(() => ids.every((id) => slack.isAcknowledged(id)));
    expect(account.inbox.map(({ text }) => text)).toEqual(["odd files", "readable"]);
    expect(neverRecovered(account.states)).toBe(true);
  });

  test("carry files, fetched with the token from Slack only; others are named", async () => {
    slack.files.set("F0PIC", { name: "a.png", type: "image/png", content: Buffer.from("\x89PNG\r\n\x1a\npicture", "latin1") });
    slack.files.set("F0LIE", { name: "lie.bin", type: "application/zip", content: Buffer.alloc(4_000) });
    slack.files.set("F0PAGE", { name: "page.pdf", type: "text/html", content: Buffer.from("<html>sign in") });
    const at = (id: string) => ({
      id,
      url_private_download: `${slack.url}/files-pri/${id}`,
      mimetype: "application/zip",
      name: `${id}.zip`,
    });
    const account = stage.drive({ maxFileBytes: 2_000 });
    await account.is("ready");
    say("look", {
      subtype: "file_share",
      files: [
        { ...at("F0PIC"), mimetype: "image/png", name: "a.png" },
        { ...at("F0HUGE"), size: 50_000 },
        at("F0LIE"),
        at("F0PAGE"),
        { ...at("F0FAR"), url_private_download: `http://localhost:${new URL(slack.url).port}/files-pri/F0PIC` },
        { id: "F0PIC", file_access: "check_file_info", mimetype: "image/png" },
        { id: "F0TOMB", mode: "tombstone" },
      ],
    });
    await stage.received(account, "look");

    const media = account.inbox[0]?.media ?? [];
    expect(media.map(({ path }) => path !== undefined)).toEqual([true, false, false, false, false, true]);
    expect(media[1]).toEqual({ kind: "file", mime: "application/zip", name: "F0HUGE.zip", bytes: 50_000 });
    expect(account.logs.join("\n")).toMatch(
      /maxFileBytes allows 2000.*longer than 2000.*is the scope files:read there.*its address is not at Slack/s,
    );
  });

  test("by slash command are those of the commands that are listed", async () => {
    const account = stage.drive({ slashCommands: ["/svc"] });
    await account.is("ready");
    const command = { team_id: "T0KITCHEN", user_id: ADA, user_name: "ada", trigger_id: "13.37" };
    const foreign = slack.push(
      APP,
      { ...command, command: "/other", text: "no", channel_id: KITCHEN, channel_name: "kitchen" },
      "slash_commands",
    );
    slack.push(APP, { ...command, command: "/svc", text: "hello", channel_id: KITCHEN, channel_name: "kitchen" }, "slash_commands");
    slack.push(
      APP,
      { ...command, command: "/svc", text: "", channel_id: "D0FOREIGN", channel_name: "directmessage", trigger_id: "14" },
      "slash_commands",
    );
    await stage.received(account, "/help");
    await eventually(() => slack.isAcknowledged(foreign));

    expect(account.inbox).toMatchObject([
      { id: "command:13.37", chatType: "group", peer: { id: KITCHEN }, text: "hello", mentions: { explicit: true } },
      { chatType: "direct", peer: { id: ADA }, sender: { id: ADA } },
    ]);
  });
});
