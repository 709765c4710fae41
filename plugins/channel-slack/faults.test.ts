import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect } from "vitest";
import type { FakeSlack } from "../../test/fakes/slack.ts";
import { APP, eventOf, KITCHEN, messageOf, type SlackStage, slackStage } from "../../test/fixtures/slack-account.ts";
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
const outcome = (work: Promise<unknown>) => work.catch((error: unknown) => error);
const asked = (method: string) => slack.calls.filter((call) => call.method === method);
const neverRecovered = (states: Array<{ lifecycle: string }>) => states.every(({ lifecycle }) => lifecycle !== "recovering");

describe("a link", () => {
  test.each(["refresh_requested", "warning"])("that Slack replaces (%s) is followed by another, and nothing is lost", async (reason) => {
    const account = stage.drive();
    await account.is("ready");
    slack.raw(APP, { type: "disconnect", reason, debug_info: { host: "fake" } });
    await eventually(() => asked("apps.connections.open").length === 2 && slack.links(APP) === 1);
    say("on the new one");
    await stage.received(account, "on the new one");

    expect(neverRecovered(account.states)).toBe(true);
  });

  test("that Slack replaces at once each time is opened more slowly", async () => {
    const account = stage.drive({}, { steadyMs: 60_000, reconnectMs: 60_000 });
    await account.is("ready");
    slack.raw(APP, { type: "disconnect", reason: "refresh_requested" });

    expect((await account.is("recovering")).lastError).toBe("Slack closed the link: refresh_requested");
  });

  test("is not opened any more when socket mode was turned off", async () => {
    const account = stage.drive();
    await account.is("ready");
    slack.raw(APP, { type: "disconnect", reason: "link_disabled" });

    expect((await account.is("blocked")).lastError).toMatch(/socket mode was turned off.*set mode to events/);
    expect(asked("apps.connections.open")).toHaveLength(1);
  });

  test("that is not opened, or not greeted, is tried again, and shows no ticket", async () => {
    slack.script(
      "apps.connections.open",
      "cut",
      "garbage",
      { status: 500 },
      { error: "internal_error" },
      { status: 429, headers: { "retry-after": "1" } },
    );
    slack.script("auth.test", "silence");
    slack.script("link", "cut", { status: 503 }, "silence");
    const account = stage.drive({}, { callMs: 2_000 });
    await account.is("ready");

    const told = JSON.stringify([account.states, account.logs]);
    expect(told).toMatch(
      /did not answer auth.test in time.*not from Slack's Web API.*Slack failed \(500\).*internal_error.*ratelimited.*did not greet within 2 s/s,
    );
    for (const secret of [APP.botToken, APP.appToken, "ticket="]) expect(told).not.toContain(secret);
  });

  test("that is dead without an end is noticed, and made again", async () => {
    const account = stage.drive({}, { pingMs: 1_000 });
    await account.is("ready");
    slack.stall();
    await account.is("recovering");
    await account.is("ready");
    say("on the new one");
    await stage.received(account, "on the new one");
  });

  test("besides that of another program is reported", async () => {
    await stage.drive().is("ready");
    const second = stage.drive();
    await second.is("ready");

    expect(second.logs.join("\n")).toContain("2 programs are connected as this app");
  });

  test("leaves the dispatcher of the process's own fetch alone", async () => {
    const place = Symbol.for("undici.globalDispatcher.1");
    await fetch(slack.url);
    const before = (globalThis as Record<symbol, unknown>)[place];
    await stage.drive().is("ready");

    expect((globalThis as Record<symbol, unknown>)[place]).toBe(before);
  });
});

describe("an account", () => {
  test.each(["invalid_auth", "account_inactive", "token_revoked"])(
    "whose bot token is refused (%s) is blocked, at its start and later",
    async (code) => {
      const account = stage.drive();
      await account.is("ready");
      slack.revoke(APP, code);
      expect(await outcome(account.send(KITCHEN, "hi"))).toMatchObject({ name: "SendRefusedError", isPermanent: false });
      expect((await account.is("blocked")).lastError).toContain(
        `Slack refuses the bot token: install the app again, and set the token it shows (${code})`,
      );
      await eventually(() => slack.links() === 0);

      expect((await stage.drive().is("blocked")).lastError).toContain(code);
    },
  );

  test("whose app token is refused is blocked, and says which token it is", async () => {
    const account = stage.drive({ appToken: "xapp-1-other" });

    expect((await account.is("blocked")).lastError).toMatch(/refuses the app token.*connections:write.*invalid_auth/);
  });

  test.each([{ type: "app_uninstalled" }, { type: "tokens_revoked", tokens: { bot: ["U0SVC"] } }])(
    "that was removed ($type) is blocked",
    async (event) => {
      const account = stage.drive();
      await account.is("ready");
      slack.push(APP, eventOf(event));

      expect((await account.is("blocked")).lastError).toMatch(/removed from the workspace/);
    },
  );

  test("is audited: tokens, scopes, membership of its channels", async () => {
    const { channel } = stage.drive();
    const groups = { "*": {}, [KITCHEN]: {}, C0OLD: {}, C0OTHER: {}, C0NOWHERE: {} };
    const config = { channels: { slack: { botToken: APP.botToken, appToken: APP.appToken, apiRoot: slack.apiRoot, groups } } };
    const resolved = channel.config.resolve(config as never, "default");
    const audit = () => channel.audit?.(resolved, AbortSignal.timeout(5_000));

    expect(await audit()).toMatchObject([
      { id: "bot token", ok: true },
      { id: "scopes", ok: true },
      { id: "app token", ok: true },
      { id: `channel ${KITCHEN}`, ok: true },
      { id: "channel C0OLD", ok: false, message: "#old is archived" },
      { id: "channel C0OTHER", ok: false, message: expect.stringContaining("/invite") },
      { id: "channel C0NOWHERE", ok: false, message: expect.stringContaining("no such channel") },
    ]);
    expect(await channel.probe?.(resolved, AbortSignal.timeout(5_000))).toMatchObject({ ok: true, identity: "@svc in Kitchen Ltd" });
    slack.grant(APP, ["chat:write", "im:history", "channels:read"]);
    expect((await audit())?.[1]).toMatchObject({
      id: "scopes",
      ok: false,
      message: expect.stringMatching(/^missing: app_mentions:read \(mentions\), channels:history/),
    });
    slack.revoke(APP, "account_inactive");
    expect(await audit()).toEqual([{ id: "bot token", ok: false, message: "Slack says: account_inactive (auth.test)" }]);
  });

  test("without the tokens that its mode needs is not configured, and says what is missing", () => {
    const { config } = stage.channelWith();
    const inspect = (section: object) => config.inspect({ channels: { slack: section } } as never, "default").missing;
    const resolve = (section: object) => () => config.resolve({ channels: { slack: section } } as never, "default");

    expect(inspect({})).toEqual(["botToken", "appToken"]);
    expect(inspect({ botToken: "xoxb-1", mode: "events" })).toEqual(["signingSecret"]);
    expect(resolve({ botToken: "xoxb-1" })).toThrow(/expected appToken, as mode "socket" needs botToken and appToken/);
    expect(resolve({ botToken: "xoxp-1", appToken: "xapp-1" })).toThrow(
      /botToken cannot be one: expected a bot token that begins with "xoxb-"/,
    );
    expect(resolve({ botToken: "xoxb-1", mode: "events", signingSecret: "short" })).toThrow(/signingSecret cannot be one/);
  });
});
