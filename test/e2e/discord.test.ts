import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type FakeDiscord, startFakeDiscord } from "../fakes/discord.ts";
import { needsPackages } from "../servers/vendored.ts";
import { aroundMessages, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { echoModel } from "./_echo-model.ts";
import type { Home, Running } from "./_process.ts";

const { describe, test } = await needsPackages("channel-discord");

const BOT = { id: "9001", applicationId: "90019", token: "OTAwMQ.GaBcDe.story-secret-0a1b2c", username: "svc_bot", mayReadContent: true };
const [GUILD, ROOM, THREAD] = ["7000", "7100", "7101"];
const PEOPLE = Array.from({ length: 12 }, (_, i) => ({ id: String(4_700 + i), username: `person${i}`, direct: String(5_000 + i) }));

let discord: FakeDiscord;
let home: Home;
let gateway: Running;
let said = 10_000;

function say(person: (typeof PEOPLE)[number], content: string, more: object = {}): void {
  said += 1;
  const message = { id: String(said), channel_id: person.direct, type: 0, content, author: person, mentions: [], attachments: [] };
  discord.gateway.push(BOT, "MESSAGE_CREATE", { ...message, timestamp: "2026-01-02T03:04:05+00:00", ...more });
}
/** Ids of the messages in a channel with this text: a repeat of a call under its nonce gives the same one. */
const messagesIn = (channelId: string, text: string) =>
  new Set(
    discord.calls
      .filter(
        ({ method, route, ids, body }) =>
          `${method} ${route}` === "POST /channels/:id/messages" && ids[0] === channelId && body?.content === text,
      )
      .map(({ result }) => (result as { id: string }).id),
  );

beforeAll(async () => {
  discord = await startFakeDiscord({
    bots: [BOT],
    guilds: [{ id: GUILD, name: "House", permissions: "8" }],
    channels: [
      { id: ROOM, type: 0, name: "kitchen", guild_id: GUILD },
      { id: THREAD, type: 11, name: "soup", guild_id: GUILD, parent_id: ROOM },
      ...PEOPLE.map(({ id, direct }) => ({ id: direct, type: 1, recipient: id, botId: BOT.id })),
    ],
  });
  home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
    plugins: { load: { paths: ["./echo.ts"] }, ...aroundMessages("channel-discord", "echo") },
    session: { dmScope: "per-account-channel-peer" },
    messages: { inbound: { debounceMs: 0 } },
    channels: { discord: { apiRoot: discord.url, token: BOT.token, dmPolicy: "open", allowFrom: ["*"], groups: { [ROOM]: {} } } },
  });
  home.env.SVC_SAFE_MODE = "off"; // a gateway is killed on purpose
  await writeFile(join(home.stateDir, "echo.ts"), echoModel);
  gateway = await gatewayIn(home);
});
afterAll(async () => {
  await stopAll();
  await discord?.close();
});

describe("somebody on Discord", () => {
  test("is answered in a thread when they name the bot, and a slash command in its place", async () => {
    await eventually(() => discord.commands.get(BOT.applicationId)?.some(({ name }) => name === "help"));
    const [ada] = PEOPLE as [(typeof PEOPLE)[number]];
    say(ada, "not for the bot", { channel_id: ROOM, guild_id: GUILD });
    say(ada, `<@${BOT.id}> what is for lunch?`, { channel_id: THREAD, guild_id: GUILD });
    await eventually(() => messagesIn(THREAD, "You said: what is for lunch?").size > 0);

    discord.gateway.push(BOT, "INTERACTION_CREATE", {
      id: "88001",
      application_id: BOT.applicationId,
      type: 2,
      token: "interaction-secret",
      data: { id: "1", name: "new", type: 1 },
      channel_id: ada.direct,
      user: ada,
    });
    await eventually(() => discord.calls.some(({ route }) => route === "/webhooks/:id/:token/messages/@original"));

    const routes = discord.calls.map(({ route }) => route);
    expect(routes.indexOf("/interactions/:id/:token/callback")).toBeLessThan(routes.indexOf("/webhooks/:id/:token/messages/@original"));
    expect(discord.calls.filter(({ body }) => String(body?.content).includes("not for the bot"))).toEqual([]);
  });

  test("has each message answered once when the gateway is killed in between", async () => {
    for (const person of PEOPLE.slice(0, 8)) say(person, "before");
    await eventually(() => PEOPLE.some(({ direct }) => messagesIn(direct, "You said: before").size > 0));
    await gateway.kill("SIGKILL");
    for (const person of PEOPLE.slice(8)) say(person, "before");
    gateway = await gatewayIn(home);

    for (const { direct } of PEOPLE) await eventually(() => messagesIn(direct, "You said: before").size > 0, 60_000);
    for (const { direct, username } of PEOPLE) expect(messagesIn(direct, "You said: before").size, username).toBe(1);
    expect(discord.wrong).toEqual([]);
    expect(`${gateway.out.stdout}${gateway.out.stderr}`).not.toMatch(/story-secret|interaction-secret/);
  });
});
