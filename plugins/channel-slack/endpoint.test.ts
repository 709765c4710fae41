import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect } from "vitest";
import { type FakeSlack, signedRequest } from "../../test/fakes/slack.ts";
import { ADA, APP, eventOf, KITCHEN, messageOf, type SlackStage, slackStage } from "../../test/fixtures/slack-account.ts";
import { needsPackages } from "../../test/servers/vendored.ts";

const { describe, test } = await needsPackages("channel-slack");

const EVENTS = { mode: "events", signingSecret: APP.signingSecret, appToken: undefined };

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

type Request = ReturnType<typeof signedRequest>;
interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

/** Posts as the gateway hands it on, with the body that was read and its limit. */
async function post({ headers, body }: Request, { rest = "default", limits = [] as unknown[] } = {}): Promise<Answer> {
  const bytes = async (limit?: unknown) => {
    limits.push(limit);
    return Buffer.from(body);
  };
  return (await stage.endpoint.handle({ req: new Request("http://gateway/", { headers }), rest, bytes })) as Answer;
}

const said = (text: string, more: Record<string, unknown> = {}) => JSON.stringify(eventOf(messageOf(text, more)));

describe("the endpoint for events", () => {
  test("takes requests that Slack has signed lately, and answers when they are stored", async () => {
    const account = stage.drive(EVENTS);
    await account.is("ready");
    const body = said("by request");
    const good = signedRequest(APP, body);
    const withHeader = (name: string, value: string) => ({ ...good, headers: { ...good.headers, [name]: value } });
    const limits: unknown[] = [];
    const refused: Array<[string, Request, string?]> = [
      ["another secret", signedRequest({ signingSecret: `${APP.signingSecret}x` }, body)],
      ["one more blank", { ...good, body: `${body} ` }],
      ["written anew", { ...good, body: JSON.stringify(JSON.parse(body), null, 1) }],
      ["too old", signedRequest(APP, body, { now: Date.now() - 302_000 })],
      ["from the future", signedRequest(APP, body, { now: Date.now() + 302_000 })],
      ["with another time", withHeader("x-slack-request-timestamp", String(Math.floor(Date.now() / 1_000) - 10))],
      ["with a time that is none", withHeader("x-slack-request-timestamp", "1e9")],
      ["of another version", withHeader("x-slack-signature", (good.headers["x-slack-signature"] ?? "").replace("v0", "v1"))],
      ["without a signature", withHeader("x-slack-signature", "")],
      ["to another account", good, "other"],
    ];
    for (const [what, request, rest] of refused) expect((await post(request, { rest: rest ?? "default" })).status, what).toBe(401);
    expect(account.inbox).toEqual([]);
    // The body of a request that is refused by its head is not read.
    await post(withHeader("x-slack-signature", ""), { limits });
    expect(limits).toEqual([]);

    expect(await post(good, { limits })).toEqual({ status: 200, body: "" });
    expect(limits).toEqual([{ maxBytes: 1_048_576 }]);
    expect((await post(signedRequest(APP, said("nearly old"), { now: Date.now() - 295_000 }))).status).toBe(200);
    expect(account.inbox.map(({ text }) => text)).toEqual(["by request", "nearly old"]);
  });

  test("hands a copied request on once, and repetitions of Slack as the same message", async () => {
    const account = stage.drive(EVENTS);
    await account.is("ready");
    const body = said("once");
    const request = signedRequest(APP, body);

    expect([(await post(request)).status, (await post(request)).status]).toEqual([200, 200]);
    expect(account.inbox).toHaveLength(1);
    expect((await post(signedRequest(APP, body, { retry: 1, now: Date.now() - 1_000 }))).status).toBe(200);
    expect(new Set(account.inbox.map(({ id }) => id)).size).toBe(1);
  });

  test("answers a copy of a request that is not stored yet when the host has it, or not at all", async () => {
    const account = stage.drive(EVENTS);
    await account.is("ready");
    let store: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      store = resolve;
    });
    account.run.receive = async (event) => {
      account.inbox.push(event);
      await held;
      return { status: "accepted" };
    };
    const request = signedRequest(APP, said("slowly"));
    const first = post(request);
    await stage.received(account, "slowly");
    const copy = post(request);
    let isAnswered = false;
    void copy.then(() => {
      isAnswered = true;
    });
    await post(signedRequest(APP, JSON.stringify({ type: "app_rate_limited" })));
    expect(isAnswered).toBe(false);
    store();
    expect([(await first).status, (await copy).status, (await post(request)).status]).toEqual([200, 200, 200]);
    expect(account.inbox).toHaveLength(1);

    account.run.receive = (event) => {
      account.inbox.push(event);
      return new Promise(() => undefined);
    };
    const lost = signedRequest(APP, said("cut off"));
    const waiting = [post(lost)];
    await stage.received(account, "cut off");
    waiting.push(post(lost));
    await post(signedRequest(APP, JSON.stringify({ type: "app_rate_limited" })));
    await account.stop();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([503, 503]);
  });

  test("joins repetitions of a message that the host has not stored yet, and holds no more than 100", async () => {
    const account = stage.drive(EVENTS);
    await account.is("ready");
    const offered: string[] = [];
    let store: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      store = resolve;
    });
    account.run.receive = async ({ text }) => {
      offered.push(text);
      await held;
      return { status: "accepted" };
    };
    const body = said("slowly", { channel: "C0001" });
    const waiting = [post(signedRequest(APP, body)), post(signedRequest(APP, body, { retry: 1, now: Date.now() - 1_000 }))];
    waiting.push(...Array.from({ length: 99 }, (_, i) => post(signedRequest(APP, said(`number ${i}`, { channel: `C1${i}` })))));
    await eventually(() => offered.length === 100);
    const tooMuch = signedRequest(APP, said("one too many", { channel: "C2" }));
    expect(await post(tooMuch)).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    store();

    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(offered.filter((text) => text === "slowly")).toHaveLength(1);
    expect(offered).not.toContain("one too many");
    // A request that was not taken is no copy when it comes again.
    expect((await post(tooMuch)).status).toBe(200);
    expect(offered).toContain("one too many");
  });

  test("says 503 in the time that Slack waits, and the message is stored all the same", async () => {
    await stage.close();
    stage = await slackStage(20);
    ({ slack } = stage);
    const account = stage.drive(EVENTS);
    await account.is("ready");
    let store: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      store = resolve;
    });
    account.run.receive = async (event) => {
      await held;
      account.inbox.push(event);
      return { status: "accepted" };
    };

    expect((await post(signedRequest(APP, said("slowly")))).status).toBe(503);
    store();
    await stage.received(account, "slowly");
  });

  test("answers the challenge, takes slash commands, and what it does not know; garbage is not sent again", async () => {
    const account = stage.drive({ ...EVENTS, slashCommands: ["/svc"] });
    await account.is("ready");
    const challenge = { token: "x", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P", type: "url_verification" };
    const form = (fields: Record<string, string>) =>
      signedRequest(APP, new URLSearchParams(fields).toString(), { type: "application/x-www-form-urlencoded" });

    expect(await post(signedRequest(APP, JSON.stringify(challenge)))).toEqual({
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: challenge.challenge,
    });
    const command = {
      command: "/svc",
      text: "by form",
      user_id: ADA,
      channel_id: KITCHEN,
      channel_name: "kitchen",
      trigger_id: "9.9",
      team_id: "T0KITCHEN",
    };
    expect(await post(form(command))).toEqual({ status: 200, body: "" });
    expect(account.inbox).toMatchObject([{ id: "command:9.9", text: "by form", teamId: "T0KITCHEN" }]);
    expect((await post(form({ ssl_check: "1" }))).status).toBe(200);
    expect((await post(signedRequest(APP, JSON.stringify({ type: "app_rate_limited" })))).status).toBe(200);
    for (const body of ["no JSON", "[]", "null"])
      expect(await post(signedRequest(APP, body)), body).toMatchObject({ status: 400, headers: { "x-slack-no-retry": "1" } });
    expect(account.inbox).toHaveLength(1);
  });

  test("is closed with its account, and a message that waits then comes again", async () => {
    const account = stage.drive(EVENTS);
    await account.is("ready");
    account.run.receive = () => new Promise(() => undefined);
    const waiting = post(signedRequest(APP, said("cut off")));
    await account.stop();

    expect((await waiting).status).toBe(503);
    expect((await post(signedRequest(APP, said("too late")))).status).toBe(401);
    expect(slack.links()).toBe(0);
    expect(slack.calls.some(({ method }) => method === "apps.connections.open")).toBe(false);
  });

  test("is not opened for an account whose token is refused, and closed when it is refused later", async () => {
    const account = stage.drive(EVENTS);
    await account.is("ready");
    await post(signedRequest(APP, JSON.stringify(eventOf({ type: "app_uninstalled" }))));

    await account.is("blocked");
    expect((await post(signedRequest(APP, said("too late")))).status).toBe(401);
    expect(JSON.stringify([account.logs, account.states])).not.toContain(APP.signingSecret);
  });
});
