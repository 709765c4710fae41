import { eventually } from "svc/sdk/testing";
import { expect } from "vitest";
import type { FakeRoom } from "../../test/fakes/matrix-rooms.ts";
import {
  ADA,
  attempt,
  BOT,
  channelWith,
  direct,
  drive,
  EVE,
  group,
  matrix,
  received,
  room,
  say,
  texts,
  useMatrix,
} from "../../test/fixtures/matrix-stage.ts";
import { needsPackages } from "../../test/servers/vendored.ts";

const { describe, test } = await needsPackages("channel-matrix");

useMatrix();

describe("rooms", () => {
  test("that are encrypted are told to the operator once, and nothing is sent into them", async () => {
    const secret = room("!secret:fake.test", { "m.room.encryption": { algorithm: "m.megolm.v1.aes-sha2" } });
    const account = drive();
    await account.is("ready");
    for (const where of [secret, secret, group, group])
      matrix.rooms.add(where, { type: "m.room.encrypted", sender: ADA, content: { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "…" } });
    say("plain", {}, direct);
    await received(account, "plain");

    expect(account.logs.filter((line) => line.includes("encryption is not part of this release"))).toHaveLength(2);
    expect(await attempt(account, secret.id)).toMatchObject({
      name: "SendRefusedError",
      isPermanent: true,
      message: expect.stringMatching(/encrypted/),
    });
    expect(secret.events.filter(({ sender, type }) => sender === BOT.id && type !== "m.room.member")).toEqual([]);
  });

  test("are entered by invitation where the rules admit it, and all others wait", async () => {
    const invite = (id: string, isDirect: boolean, by = ADA, state = {}) => {
      const made = room(id, state, false);
      if (by !== ADA) matrix.rooms.member(made, by, by, "join");
      matrix.rooms.member(made, by, BOT.id, "invite", { is_direct: isDirect });
      return made;
    };
    const membership = (one: FakeRoom) => matrix.rooms.membership(one, BOT.id);
    const listed = invite("!listed:fake.test", false);
    const stranger = invite("!stranger:fake.test", true, EVE);
    const account = drive({ section: { dmPolicy: "allowlist", allowFrom: [ADA], groups: { "!listed:fake.test": {} } } });
    await account.is("ready");
    const chat = invite("!chat:fake.test", true);
    const sealed = invite("!sealed:fake.test", true, ADA, { "m.room.encryption": { algorithm: "m.megolm.v1.aes-sha2" } });
    const other = invite("!other:fake.test", false);
    say("hello", {}, chat);
    await eventually(() => membership(chat) === "join" && membership(listed) === "join");
    say("and now", {}, chat);
    await received(account, "and now");

    expect(account.inbox.find(({ text }) => text === "and now")).toMatchObject({ chatType: "direct", sender: { id: ADA } });
    expect([stranger, sealed, other].map(membership)).toEqual(["invite", "invite", "invite"]);
    expect(matrix.rooms.direct.get(BOT.id)?.content).toEqual({ [ADA]: [direct.id, chat.id] });
    expect(account.logs.filter((line) => line.includes("is left alone"))).toHaveLength(3);
    expect(JSON.stringify(await account.channel.audit?.(account.run.account, AbortSignal.timeout(20_000)))).toMatch(
      /@eve:fake\.test.*it waits: dmPolicy/,
    );
  });

  test("of two bring the first words along; what was said in a group before is not answered", async () => {
    const account = drive({ section: { groupPolicy: "open" } });
    await account.is("ready");
    matrix.script("join", { status: 429, body: { errcode: "M_LIMIT_EXCEEDED", error: "slow down", retry_after_ms: 20 } });
    for (const [id, isDirect] of [
      ["!first:fake.test", true],
      ["!room:fake.test", false],
    ] as const) {
      const made = room(id, {}, false);
      say(`before, ${isDirect}`, {}, made);
      matrix.rooms.member(made, ADA, BOT.id, "invite", { is_direct: isDirect });
      say(`first, ${isDirect}`, {}, made);
      await eventually(() => matrix.rooms.membership(made, BOT.id) === "join");
      say(`after, ${isDirect}`, {}, made);
      await received(account, `after, ${isDirect}`);
    }
    expect(texts(account)).toEqual(["first, true", "after, true", "after, false"]);
  });

  test("that are slow to enter do not hold up the others, and strangers do not bring in any number", async () => {
    const account = drive({ section: { dmPolicy: "open", allowFrom: ["*"] } });
    await account.is("ready");
    matrix.script("join", "stall");
    for (let n = 0; n < 32; n += 1) matrix.rooms.member(room(`!n${n}:fake.test`, {}, false), ADA, BOT.id, "invite", { is_direct: true });
    await eventually(() => account.logs.some((line) => line.includes("30 were accepted within an hour")));
    say("meanwhile");
    await received(account, "meanwhile");
  });

  test("of two become a group with the third person, and are found or made for somebody to write to", async () => {
    const account = drive();
    await account.is("ready");
    matrix.rooms.member(direct, ADA, EVE, "join");
    say("three of us", {}, direct);
    expect(await received(account, "three of us")).toMatchObject({ chatType: "group" });
    await Promise.all([attempt(account, EVE), attempt(account, EVE)]);
    await attempt(account, EVE);
    expect(matrix.calls.filter(({ path }) => path.endsWith("createRoom"))).toMatchObject([{ body: { invite: [EVE], is_direct: true } }]);
  });

  test("that a homeserver encrypts from the start are never written to, whatever fails while they are made", async () => {
    matrix.encryptsNew = true;
    const account = drive();
    await account.is("ready");
    const broken = { status: 500, body: { errcode: "M_UNKNOWN", error: "Internal server error" } };
    matrix.script("account_data", broken);
    expect(await attempt(account, EVE)).toMatchObject({ name: "NotDispatchedError" });
    matrix.script("state", broken);
    expect(await attempt(account, EVE)).toMatchObject({ name: "NotDispatchedError" });
    const attempts = [attempt(account, EVE), attempt(account, EVE), attempt(account, EVE)];
    for (const outcome of await Promise.all(attempts)) expect(outcome).toMatchObject({ isPermanent: true });
    expect(matrix.calls.filter(({ path }) => path.endsWith("createRoom"))).toHaveLength(1);
  });

  test("of which it is not known whether they were made are made once more at most", async () => {
    const account = drive();
    await account.is("ready");
    matrix.script("createRoom", ...Array.from({ length: 4 }, () => "taken, then cut" as const));
    for (const name of ["Error", "Error", "SendRefusedError", "SendRefusedError"])
      expect(await attempt(account, EVE)).toMatchObject({ name });
    expect(matrix.calls.filter(({ path }) => path.endsWith("createRoom"))).toHaveLength(2);
  });

  test("in which the account may not write, and the others, are audited", async () => {
    room("!muted:fake.test", { "m.room.name": { name: "News" }, "m.room.power_levels": { events_default: 50, users: { [ADA]: 100 } } });
    room("!secret:fake.test", { "m.room.encryption": { algorithm: "m.megolm.v1.aes-sha2" } });
    const channel = channelWith();
    const config = { channels: { matrix: { homeserver: matrix.url, userId: BOT.id, password: BOT.password } } };
    const account = channel.config.resolve(config as never, "default");

    expect(await channel.audit?.(account, AbortSignal.timeout(20_000))).toMatchObject([
      { id: "session", ok: true },
      { id: "room !secret:fake.test", ok: false, message: expect.stringMatching(/not part of this release/) },
      { id: "room News (!muted:fake.test)", ok: false, message: expect.stringMatching(/may not write/) },
      { id: "invitations", ok: true },
    ]);
    expect(await channel.probe?.(account, AbortSignal.timeout(20_000))).toMatchObject({ ok: true, identity: BOT.id });
    expect([...(matrix.devices.get(BOT.id) ?? [])]).toEqual([]);
  });

  test("that throw the account out are named", async () => {
    const account = drive();
    await account.is("ready");
    matrix.rooms.member(group, ADA, BOT.id, "ban");
    await eventually(() => account.logs.some((line) => line.includes("was banned from a room") && line.includes(ADA)));
    expect(await attempt(account)).toMatchObject({ isPermanent: true, message: expect.stringMatching(/M_FORBIDDEN/) });
  });
});
