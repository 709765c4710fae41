import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type FakeApp, type FakeSlack, newTs, signedRequest, startFakeSlack } from "../fakes/slack.ts";
import { needsPackages } from "../servers/vendored.ts";
import { aroundMessages, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { echoModel } from "./_echo-model.ts";
import type { Home, Running } from "./_process.ts";

const { describe, test } = await needsPackages("channel-slack");

const LINKED = appOf("LINKED");
const ASKED = appOf("ASKED");
const PEOPLE = Array.from({ length: 8 }, (_, i) => ({ id: `U0P${i}`, name: `Person ${i}` }));
const KITCHEN = "C0KITCHEN";

function appOf(name: string): FakeApp {
  return {
    appId: `A0${name}`,
    teamId: "T0KITCHEN",
    userId: `U0${name}`,
    botId: `B0${name}`,
    name: `svc_${name.toLowerCase()}`,
    botToken: `xoxb-1111-2222-${name.toLowerCase()}abcdef`,
    appToken: `xapp-1-A0${name}-3333-${name.toLowerCase()}abcdef`,
    signingSecret: `8f742231b10e8888abcd99yyyzzz-${name}`,
  };
}

let slack: FakeSlack;
let home: Home;
let gateway: Running;

const eventOf = (app: FakeApp, event: object) => ({ type: "event_callback", team_id: app.teamId, event_id: `Ev${newTs()}`, event });
const directOf = (person: string, text: string) => ({
  type: "message",
  channel: person.replace("U", "D"),
  channel_type: "im",
  user: person,
  ts: newTs(),
  text,
});
const inKitchen = (text: string, more: object = {}) => ({
  type: "message",
  channel: KITCHEN,
  channel_type: "channel",
  user: "U0P0",
  ts: newTs(),
  text,
  ...more,
});
const answersTo = (text: string, channel?: string) =>
  slack.calls.filter(
    ({ method, params }) =>
      method === "chat.postMessage" && params.text === `You said: ${text}` && (channel === undefined || params.channel === channel),
  );

beforeAll(async () => {
  slack = await startFakeSlack({
    apps: [LINKED, ASKED],
    channels: [{ id: KITCHEN, name: "kitchen" }, ...PEOPLE.map(({ id }) => ({ id: id.replace("U", "D"), user: id }))],
    users: PEOPLE,
  });
  home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
    plugins: { load: { paths: ["./echo.ts"] }, ...aroundMessages("channel-slack", "echo") },
    session: { dmScope: "per-account-channel-peer" },
    messages: { inbound: { debounceMs: 0 } },
    channels: {
      slack: {
        apiRoot: slack.apiRoot,
        dmPolicy: "open",
        allowFrom: ["*"],
        groups: { [KITCHEN]: {} },
        replyInThread: true,
        accounts: {
          linked: { botToken: LINKED.botToken, appToken: LINKED.appToken },
          asked: { mode: "events", botToken: ASKED.botToken, signingSecret: ASKED.signingSecret },
        },
      },
    },
  });
  home.env.SVC_SAFE_MODE = "off"; // a gateway is killed on purpose
  await writeFile(join(home.stateDir, "echo.ts"), echoModel);
  gateway = await gatewayIn(home);
  await eventually(() => slack.links(LINKED) === 1);
});
afterAll(async () => {
  await stopAll();
  await slack?.close();
});

describe("somebody on Slack", () => {
  test("is answered in a thread below a question in a channel, and goes on there without naming the bot", async () => {
    const question = inKitchen("<@U0LINKED> what is for lunch?");
    slack.push(LINKED, eventOf(LINKED, inKitchen("not for the bot")));
    slack.push(LINKED, eventOf(LINKED, question));
    slack.push(LINKED, eventOf(LINKED, { ...question, type: "app_mention", channel_type: undefined }));
    await eventually(() => answersTo("what is for lunch?").length > 0);
    slack.push(LINKED, eventOf(LINKED, inKitchen("and for dinner?", { thread_ts: question.ts, parent_user_id: "U0P0" })));
    await eventually(() => answersTo("and for dinner?").length > 0);

    const threads = ["what is for lunch?", "and for dinner?"].map((text) => answersTo(text, KITCHEN).map(({ params }) => params.thread_ts));
    expect(threads).toEqual([[question.ts], [question.ts]]);
    expect(answersTo("not for the bot")).toEqual([]);
  });

  test("is answered through the signed endpoint on the gateway's own port, and a stranger's request is not", async () => {
    const at = `http://127.0.0.1:${gateway.port}/channels/slack/asked`;
    const body = JSON.stringify(eventOf(ASKED, directOf("U0P1", "by request")));
    const request = signedRequest(ASKED, body);
    await eventually(
      async () => (await fetch(at, signedRequest(ASKED, '{"type":"url_verification","challenge":"c"}'))).status === 200,
      30_000,
    );

    expect((await fetch(at, signedRequest(LINKED, body))).status).toBe(401);
    expect((await fetch(at, signedRequest(ASKED, JSON.stringify({ filler: "x".repeat(1_048_577) })))).status).toBe(413);
    for (let i = 0; i < 2; i++) expect((await fetch(at, request)).status).toBe(200);
    expect((await fetch(at, signedRequest(ASKED, body, { retry: 1, now: Date.now() - 2_000 }))).status).toBe(200);

    await eventually(() => answersTo("by request").length > 0);
    expect(answersTo("by request")).toMatchObject([{ app: { appId: "A0ASKED" }, params: { channel: "D0P1" } }]);
  });

  test("has each message answered by one turn when the gateway is killed in between", async () => {
    const texts = PEOPLE.map(({ name }) => `before, ${name}`);
    const say = (i: number) => slack.push(LINKED, eventOf(LINKED, directOf(PEOPLE[i]?.id ?? "", texts[i] ?? "")));
    const ids = [0, 1, 2, 3].map(say);
    await eventually(() => ids.some((id) => slack.isAcknowledged(id)));
    await gateway.kill("SIGKILL");
    ids.push(...[4, 5, 6, 7].map(say));
    gateway = await gatewayIn(home);

    for (const text of texts) await eventually(() => answersTo(text).length > 0, 60_000);
    expect(ids.every((id) => slack.isAcknowledged(id))).toBe(true);
    // Slack has no ids for sends: an answer that was on its way at the kill may be there twice, and no more than the four that could be.
    const all = texts.reduce((count, text) => count + answersTo(text).length, 0);
    expect(all).toBeLessThanOrEqual(texts.length + 4);
    expect(answersTo("by request")).toHaveLength(1);
    expect(slack.wrong).toEqual([]);
    for (const secret of [LINKED.botToken, LINKED.appToken, ASKED.signingSecret])
      expect(`${gateway.out.stdout}${gateway.out.stderr}`).not.toContain(secret);
  });
});
