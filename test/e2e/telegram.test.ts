import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type FakeTelegram, startFakeTelegram } from "../fakes/telegram.ts";
import { needsPackages } from "../servers/vendored.ts";
import { aroundMessages, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { echoModel } from "./_echo-model.ts";
import type { Home, Running } from "./_process.ts";

const { describe, test } = await needsPackages("channel-telegram");

const POLLED = { id: 9001, token: "9001:AAEg7xw2n4QbVh0-polled", username: "polled_bot" };
const SENT = { id: 9002, token: "9002:AAFk3yz8m5RcWi1-sent", username: "sent_bot" };
const SECRET = "webhook-secret-77aa01";
const PEOPLE = Array.from({ length: 12 }, (_, i) => ({ id: 4_700 + i, type: "private" as const, first_name: `Person ${i}` }));

let telegram: FakeTelegram;
let home: Home;
let gateway: Running;

const messageOf = (person: (typeof PEOPLE)[number], text: string) => ({
  message: {
    message_id: 1,
    date: 1_700_000_000,
    chat: person,
    from: { id: person.id, is_bot: false, first_name: person.first_name },
    text,
  },
});
const answersTo = (person: (typeof PEOPLE)[number], text: string) =>
  telegram.calls.filter(
    ({ method, params }) => method === "sendMessage" && params.chat_id === String(person.id) && params.text === `You said: ${text}`,
  );

beforeAll(async () => {
  telegram = await startFakeTelegram({ bots: [POLLED, SENT], chats: PEOPLE });
  home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
    plugins: { load: { paths: ["./echo.ts"] }, ...aroundMessages("channel-telegram", "echo") },
    session: { dmScope: "per-account-channel-peer" },
    messages: { inbound: { debounceMs: 0 } },
    channels: {
      telegram: {
        apiRoot: telegram.url,
        dmPolicy: "open",
        allowFrom: ["*"],
        accounts: {
          polled: { token: POLLED.token },
          sent: { token: SENT.token, webhook: { url: "https://gateway.example", secret: SECRET } },
        },
      },
    },
  });
  home.env.SVC_SAFE_MODE = "off"; // a gateway is killed on purpose
  await writeFile(join(home.stateDir, "echo.ts"), echoModel);
  gateway = await gatewayIn(home);
});
afterAll(async () => {
  await stopAll();
  await telegram?.close();
});

describe("somebody on Telegram", () => {
  test("is answered through a webhook on the gateway's own port, and a stranger's request is not", async () => {
    await eventually(() => telegram.webhookOf(SENT).url === "https://gateway.example/channels/telegram/sent");
    const [ada] = PEOPLE as [(typeof PEOPLE)[number]];
    const post = (secret: string) =>
      fetch(`http://127.0.0.1:${gateway.port}/channels/telegram/sent`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
        body: JSON.stringify({ update_id: 5, ...messageOf(ada, "by webhook") }),
      });

    expect((await post("wrong")).status).toBe(401);
    expect((await post(SECRET)).status).toBe(200);
    expect((await post(SECRET)).status).toBe(200);

    await eventually(() => answersTo(ada, "by webhook").length > 0);
    expect(answersTo(ada, "by webhook")[0]?.bot.id).toBe(SENT.id);
  });

  test("has each message answered by one turn when the gateway is killed in between", async () => {
    for (const person of PEOPLE.slice(0, 8)) telegram.push(POLLED, messageOf(person, "before"));
    await eventually(() => PEOPLE.some((person) => answersTo(person, "before").length > 0));
    await gateway.kill("SIGKILL");
    for (const person of PEOPLE.slice(8)) telegram.push(POLLED, messageOf(person, "before"));
    gateway = await gatewayIn(home);

    for (const person of PEOPLE) await eventually(() => answersTo(person, "before").length > 0, 60_000);
    // Telegram has no ids for sends: an answer that was on its way at the kill may be there twice, and no more than the eight that could be.
    const all = PEOPLE.reduce((count, person) => count + answersTo(person, "before").length, 0);
    expect(all).toBeLessThanOrEqual(PEOPLE.length + 8);
    expect(telegram.wrong).toEqual([]);
    expect(answersTo(PEOPLE[0] as (typeof PEOPLE)[number], "by webhook")).toHaveLength(1);
    expect(`${gateway.out.stdout}${gateway.out.stderr}`).not.toContain(POLLED.token);
  });
});
