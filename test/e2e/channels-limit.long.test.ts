import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type FakeTelegram, startFakeTelegram } from "../fakes/telegram.ts";
import { needsPackages } from "../servers/vendored.ts";
import { aroundMessages, configured, freshHome, gatewayIn, json, stopAll, token } from "./_cli.ts";
import { echoModel } from "./_echo-model.ts";

const { test } = await needsPackages("channel-telegram");

const BUSY = { id: 9101, token: "9101:AAEg7xw2n4QbVh0-busy", username: "busy_bot" };
const CALM = { id: 9102, token: "9102:AAFk3yz8m5RcWi1-calm", username: "calm_bot" };
const PEOPLE = Array.from({ length: 4 }, (_, i) => ({ id: 4_800 + i, type: "private" as const, first_name: `Person ${i}` }));
const MINUTE_MS = 60_000;
const RETRY_AFTER_SECONDS = 5;

type Person = (typeof PEOPLE)[number];

let telegram: FakeTelegram;
afterAll(async () => {
  await stopAll();
  await telegram?.close();
});

const say = (bot: typeof BUSY, person: Person, text: string, id: number) =>
  telegram.push(bot, {
    message: {
      message_id: id,
      date: 1_700_000_000,
      chat: person,
      from: { id: person.id, is_bot: false, first_name: person.first_name },
      text,
    },
  });
const answers = (bot: typeof BUSY, person: Person) =>
  telegram.calls.flatMap(({ method, params, bot: of }) =>
    of.id === bot.id && method === "sendMessage" && params.chat_id === String(person.id) ? [String(params.text)] : [],
  );

test("a platform that answers 429 for a minute gets every answer afterwards, once and in order; the account beside it does not wait", async () => {
  telegram = await startFakeTelegram({ bots: [BUSY, CALM], chats: PEOPLE });
  const home = await configured(await freshHome(), {
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
        accounts: { busy: { token: BUSY.token }, calm: { token: CALM.token } },
      },
    },
  });
  await writeFile(join(home.stateDir, "echo.ts"), echoModel);
  const gateway = await gatewayIn(home);

  telegram.limit(BUSY, MINUTE_MS, RETRY_AFTER_SECONDS);
  const limitedUntil = performance.now() + MINUTE_MS;
  const words = Array.from({ length: 6 }, (_, i) => `word ${i}`);
  for (const [i, word] of words.entries()) {
    for (const person of PEOPLE) for (const bot of [BUSY, CALM]) say(bot, person, word, i + 1);
    // Each word is a turn of its own: the next one is said when the calm account has answered.
    await eventually(() => PEOPLE.every((person) => answers(CALM, person).length === i + 1), 30_000);
  }
  expect(performance.now(), "the calm account answered while the other one was limited").toBeLessThan(limitedUntil);
  expect(PEOPLE.flatMap((person) => answers(BUSY, person))).toEqual([]);
  const waiting = await json(home, ["channels", "status"], { SVC_GATEWAY_PORT: String(gateway.port) });
  expect(waiting).toMatchObject({
    value: {
      channelAccounts: {
        telegram: expect.arrayContaining([expect.objectContaining({ accountId: "busy", lifecycle: "ready", connected: true })]),
      },
    },
  });

  const expected = words.map((word) => `You said: ${word}`);
  for (const person of PEOPLE) await eventually(() => answers(BUSY, person).at(-1)?.includes("word 5"), MINUTE_MS + 120_000);
  for (const person of PEOPLE) {
    expect(
      answers(BUSY, person)
        .join("\n")
        .match(/word \d/g),
    ).toEqual(words);
    expect(answers(CALM, person)).toEqual(expected);
  }
  // Nobody asked again before the time that the platform named: one try per conversation and wait.
  const tries = telegram.limited.length;
  expect(tries).toBeGreaterThan(PEOPLE.length);
  expect(tries).toBeLessThanOrEqual(PEOPLE.length * (MINUTE_MS / 1_000 / RETRY_AFTER_SECONDS + 1));
  expect(telegram.wrong).toEqual([]);
}, 360_000);
