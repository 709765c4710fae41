import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type FakeMatrix, startFakeMatrix } from "../fakes/matrix.ts";
import type { FakeRoom } from "../fakes/matrix-rooms.ts";
import { needsPackages } from "../servers/vendored.ts";
import { aroundMessages, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { echoModel } from "./_echo-model.ts";
import type { Home, Running } from "./_process.ts";

const { describe, test } = await needsPackages("channel-matrix");

// One gateway of a machine runs an account: another run of this file must not have the same.
const BOT = { id: `@svc-${process.pid}:fake.test`, token: "syt_svc_5c0d19ee", name: "svc" };
const PEOPLE = Array.from({ length: 12 }, (_, i) => `@person-${i}:fake.test`);

let matrix: FakeMatrix;
let home: Home;
let gateway: Running;
const chats = new Map<string, FakeRoom>();

const say = (person: string, text: string) => {
  const content = { msgtype: "m.text", body: text };
  matrix.rooms.add(chats.get(person) as FakeRoom, { type: "m.room.message", sender: person, content });
};
const answersTo = (person: string, text: string) =>
  (chats.get(person) as FakeRoom).events.filter(({ sender, content }) => sender === BOT.id && content.body === `You said: ${text}`);

beforeAll(async () => {
  matrix = await startFakeMatrix({ users: [BOT] });
  for (const [i, person] of PEOPLE.entries()) {
    const room = matrix.rooms.create(`!chat-${i}:fake.test`);
    matrix.rooms.member(room, person, person, "join", { displayname: `Person ${i}` });
    matrix.rooms.member(room, person, BOT.id, "invite", { is_direct: true });
    chats.set(person, room);
  }
  home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
    plugins: { load: { paths: ["./echo.ts"] }, ...aroundMessages("channel-matrix", "echo") },
    session: { dmScope: "per-account-channel-peer" },
    messages: { inbound: { debounceMs: 0 } },
    channels: { matrix: { homeserver: matrix.url, userId: BOT.id, accessToken: BOT.token, dmPolicy: "open", allowFrom: ["*"] } },
  });
  home.env.SVC_SAFE_MODE = "off"; // a gateway is killed on purpose
  await writeFile(join(home.stateDir, "echo.ts"), echoModel);
  gateway = await gatewayIn(home);
});
afterAll(async () => {
  await stopAll();
  await matrix?.close();
});

describe("somebody on Matrix", () => {
  test("invites the account and is answered in the room", async () => {
    const [ada] = PEOPLE as [string];
    await eventually(() => matrix.rooms.membership(chats.get(ada), BOT.id) === "join");
    say(ada, "hello");
    await eventually(() => answersTo(ada, "hello").length > 0);
  });

  test("has each message answered once when the gateway is killed between sync and answer", async () => {
    for (const person of PEOPLE) await eventually(() => matrix.rooms.membership(chats.get(person), BOT.id) === "join");
    for (const person of PEOPLE.slice(0, 8)) say(person, "before");
    const last = matrix.rooms.now;
    // The gateway has them all when it asks for what comes after them; their answers are under way.
    await eventually(() => matrix.confirmed(BOT.id) >= last);
    await gateway.kill("SIGKILL");
    for (const person of PEOPLE.slice(8)) say(person, "before");
    gateway = await gatewayIn(home);

    for (const person of PEOPLE) await eventually(() => answersTo(person, "before").length > 0, 60_000);
    for (const person of PEOPLE) say(person, "after");
    for (const person of PEOPLE) await eventually(() => answersTo(person, "after").length > 0, 60_000);
    // The homeserver knows a transaction that comes again: nothing is there twice.
    for (const person of PEOPLE) expect([answersTo(person, "before").length, answersTo(person, "after").length]).toEqual([1, 1]);
    expect(matrix.wrong).toEqual([]);
    expect(`${gateway.out.stdout}${gateway.out.stderr}`).not.toContain(BOT.token);
  });
});
