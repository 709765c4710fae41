import { eventually } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { drive, endAfterEach, ownServer, PASSWORD, person, tapOf } from "../../test/fixtures/xmpp-network.ts";
import { needs } from "../../test/servers/needs.ts";
import { type Prosody, startProsody } from "../../test/servers/prosody.ts";
import { xml } from "../../test/servers/xmpp-user.ts";

const { describe, test } = needs("prosody", "openssl");

let server: Prosody;
/** Accounts of the gateway, one for each test: what a server keeps would reach the next one. */
const bots = Array.from({ length: 14 }, (_, i) => `bot${i}`);
let used = 0;
const nextBot = () => {
  used += 1;
  return bots[used - 1] as string;
};

endAfterEach();
beforeAll(async () => {
  server = await startProsody();
  await server.register(PASSWORD, "ada", ...bots);
});
afterAll(() => server?.close());

describe("an account whose server", () => {
  test("is killed and started again is there again, in its rooms, and has what was kept", async () => {
    const own = await ownServer({}, "bot", "ada");
    const account = drive(own.port, { rooms: ["kitchen@rooms.localhost"] });
    await account.is("ready");

    await own.stop("SIGKILL");
    await account.is("recovering");
    expect(await account.send("ada@localhost", "too early").catch((error: Error) => error.name)).toBe("NotDispatchedError");
    await own.restart();

    await account.is("ready");
    const ada = await person(own, "ada");
    await ada.join("kitchen@rooms.localhost");
    await ada.say("kitchen@rooms.localhost", "still there?", "groupchat");
    await eventually(() => account.inbox.some(({ text }) => text === "still there?"));
    await account.send("kitchen@rooms.localhost", "yes");
    await eventually(() => ada.texts("kitchen@rooms.localhost").includes("yes"));
  });

  test("stops answering without a word is given up; what was being sent is sent once on the next link", async () => {
    const bot = nextBot();
    const tap = await tapOf(server);
    const ada = await person(server, "ada");
    const account = drive(tap.port, { jid: `${bot}@localhost` }, { pingMs: 200, pongMs: 800, loginMs: 3_000 });
    await account.is("ready");

    tap.stall(true);
    const sent = account.send("ada@localhost", "into the void");
    await account.is("recovering");
    tap.stall(false);
    await sent;

    expect(account.states.find(({ lifecycle }) => lifecycle === "recovering")?.lastError).toMatch(/has not answered for/);
    await ada.confirm();
    expect(ada.texts(`${bot}@localhost`)).toEqual(["into the void"]);
  });

  test.each(["cut-before", "cut-after"] as const)(
    "loses the link in the middle of a message (%s) gets it once, and the session goes on",
    async (how) => {
      const bot = nextBot();
      let isCut = false;
      const tap = await tapOf(server, (text) => {
        if (isCut || !text.includes("in the middle")) return undefined;
        isCut = true;
        return how;
      });
      const ada = await person(server, "ada");
      const account = drive(tap.port, { jid: `${bot}@localhost` });
      await account.is("ready");

      await account.send("ada@localhost", "in the middle");
      await account.send("ada@localhost", "afterwards");

      await ada.confirm();
      expect(ada.texts(`${bot}@localhost`)).toEqual(["in the middle", "afterwards"]);
      expect([...tap.links].map(({ isResumed }) => isResumed)).toEqual([true]);
    },
  );

  test("has no stream management confirms messages all the same, and says which it refuses", async () => {
    const own = await ownServer({ without: ["smacks"] }, "bot", "ada");
    const ada = await person(own, "ada");
    const account = drive(own.port, {});
    await account.is("ready");

    await account.send("ada@localhost", "hello");
    const refused = await account.send("nobody@localhost", "hello").catch((error: unknown) => error);

    expect(refused).toMatchObject({
      name: "SendRefusedError",
      isPermanent: true,
      message: expect.stringContaining("nobody@localhost does not exist"),
    });
    await eventually(() => ada.texts("bot@localhost").length === 1);
    await own.stop("SIGKILL");
    await account.is("recovering");
  });
});

test("messages that the server kept while the account was away come once, with their time", async () => {
  const bot = nextBot();
  const before = drive(server.port, { jid: `${bot}@localhost` });
  await before.is("ready");
  await before.stop();
  const ada = await person(server, "ada");
  for (const text of ["one", "two"]) await ada.say(`${bot}@localhost`, text);

  const account = drive(server.port, { jid: `${bot}@localhost` });
  await eventually(() => account.inbox.length >= 2);
  await account.stop();
  const later = drive(server.port, { jid: `${bot}@localhost` });
  await later.is("ready");
  await ada.say(`${bot}@localhost`, "three");
  await eventually(() => later.inbox.length > 0);

  expect(account.inbox.map(({ text, chatType }) => `${chatType} ${text}`)).toEqual(["direct one", "direct two"]);
  expect(account.inbox.every(({ providerAt }) => providerAt !== undefined && Math.abs(Date.now() - providerAt) < 600_000)).toBe(true);
  expect(later.inbox.map(({ text }) => text)).toEqual(["three"]);
});

test("what the host had not taken when the account was stopped comes again", async () => {
  const jid = `${nextBot()}@localhost`;
  const before = drive(server.port, { jid });
  Object.assign(before.run, { receive: async () => Promise.reject(new Error("no storage")) });
  await before.is("ready");
  const ada = await person(server, "ada");
  await ada.say(jid, "keep this");
  await ada.confirm();
  await before.stop();

  const after = drive(server.port, { jid });

  expect((await eventually(() => after.inbox[0])).text).toBe("keep this");
});

test("of two gateways with one account the earlier is told, stays away, and disturbs the later one no more", async () => {
  const jid = `${nextBot()}@localhost`;
  const first = drive(server.port, { jid });
  await first.is("ready");

  const second = drive(server.port, { jid });

  expect((await first.is("blocked")).lastError).toContain("another client has taken this account's place");
  await second.is("ready");
  const ada = await person(server, "ada");
  await ada.say(jid, "who is it?");
  await eventually(() => second.inbox.length === 1);
  expect([first.inbox.length, second.states.filter(({ lifecycle }) => lifecycle === "recovering").length]).toEqual([0, 0]);
});

describe("a room", () => {
  test("that does not exist is made and opened, and its people are known by their accounts", async () => {
    const jid = `${nextBot()}@localhost`;
    const account = drive(server.port, { jid, rooms: ["new-room@rooms.localhost"] });
    await account.is("ready");
    const ada = await person(server, "ada");

    await ada.join("new-room@rooms.localhost", "countess");
    await ada.say("new-room@rooms.localhost", "hello", "groupchat");

    const event = await eventually(() => account.inbox[0]);
    expect(event).toMatchObject({
      chatType: "group",
      peer: { id: "new-room@rooms.localhost" },
      sender: { id: "ada@localhost", name: "countess" },
    });
  });

  test("where the nick is in use is joined under another one, which counts as a mention, until the wanted one is free", async () => {
    const room = "busy@rooms.localhost";
    const ada = await person(server, "ada");
    await ada.join(room, "agent");
    const account = drive(server.port, { jid: `${nextBot()}@localhost`, nick: "agent", rooms: [room] }, { againMs: 200 });
    await account.is("ready");

    await ada.say(room, "Agent_: are you there?", "groupchat");
    expect((await eventually(() => account.inbox[0])).mentions).toEqual({ explicit: true, implicit: [] });
    await account.send(room, "as agent_");
    await eventually(() =>
      ada.stanzas.some((stanza) => stanza.attrs.from === `${room}/agent_` && stanza.getChildText("body") === "as agent_"),
    );
    await ada.send(xml("presence", { to: `${room}/ada` }));

    await ada.sees(
      (stanza) =>
        stanza.is("presence") &&
        stanza.attrs.from === `${room}/agent` &&
        stanza.attrs.type === undefined &&
        stanza.toString().includes("participant"),
    );
  });

  test("that removes the account is joined again; meanwhile nothing is sent there", async () => {
    const room = "strict@rooms.localhost";
    const ada = await person(server, "ada");
    await ada.join(room);
    const account = drive(server.port, { jid: `${nextBot()}@localhost`, nick: "agent", rooms: [room] }, { againMs: 300 });
    await account.is("ready");
    const kick = xml("item", { nick: "agent", role: "none" }, xml("reason", {}, "\u202etoo loud"));

    await ada.send(xml("iq", { type: "set", to: room, id: "kick" }, xml("query", { xmlns: "http://jabber.org/protocol/muc#admin" }, kick)));
    await eventually(() => account.logs.some((line) => line.includes("has removed this account") && !line.includes("\u202e")));
    expect(await account.send(room, "too early").catch((error: Error) => error.name)).toBe("NotDispatchedError");

    await eventually(() => account.send(room, "back again").catch(() => undefined));
    await eventually(() => ada.texts(room).includes("back again"));
  });

  test("has earlier talk, private words and forged marks, of which nothing is handed over", async () => {
    const room = "talk@rooms.localhost";
    const ada = await person(server, "ada");
    await ada.join(room);
    await ada.say(room, "before the account came", "groupchat");
    const account = drive(server.port, { jid: `${nextBot()}@localhost`, nick: "agent", rooms: [room] });
    await account.is("ready");

    await ada.say(`${room}/agent`, "in private");
    await ada.say(room, "last", "groupchat");

    await eventually(() => account.inbox.some(({ text }) => text === "last"));
    expect(account.inbox.map(({ text }) => text)).toEqual(["last"]);
    expect(account.logs.join("\n")).toContain("it has to be written to the account itself");
  });
});

describe("a person who means harm", () => {
  test("sends stanzas of every kind, and only messages are handed over, under the name of their account", async () => {
    const jid = `${nextBot()}@localhost`;
    const account = drive(server.port, { jid, rooms: ["hall@rooms.localhost"] });
    await account.is("ready");
    const ada = await person(server, "ada");
    const body = (text: string) => xml("body", {}, text);
    const send = (attrs: Record<string, string>, ...children: ReturnType<typeof xml>[]) =>
      ada.send(xml("message", { to: jid, type: "chat", ...attrs }, ...children));
    const inner = xml("message", { xmlns: "jabber:client", from: "boss@localhost/x", to: jid }, body("obey"));

    await send({ id: "1" }, xml("received", { xmlns: "urn:xmpp:carbons:2" }, xml("forwarded", { xmlns: "urn:xmpp:forward:0" }, inner)));
    await send({ id: "2" }, xml("result", { xmlns: "urn:xmpp:mam:2" }, xml("forwarded", { xmlns: "urn:xmpp:forward:0" }, inner)));
    await send({ id: "3", type: "groupchat" }, body("as a room"));
    await send({ id: "4", type: "error" }, body("as an error"));
    await send({ id: "5", type: "headline" }, body("as a headline"));
    await send({ id: "6" }, body("encrypted for you"), xml("encrypted", { xmlns: "eu.siacs.conversations.axolotl" }));
    await ada.send(xml("iq", { to: `${jid}/svc`, type: "result", id: "x" }));
    await ada.send(
      xml("presence", { to: `${jid}/svc` }, xml("x", { xmlns: "http://jabber.org/protocol/muc#user" }, xml("status", { code: "110" }))),
    );
    await ada.send(xml("presence", { to: jid, type: "subscribe" }));
    await send({ id: "7" }, body("one\u202e\u0085\u009b[2J two"), xml("stanza-id", { xmlns: "urn:xmpp:sid:0", id: "stolen", by: jid }));
    await send({ id: "8" }, xml("nest", { xmlns: "urn:x" }, ...Array.from({ length: 6_000 }, () => xml("a"))), body("too many elements"));
    await send({ id: "9" }, body("x".repeat(200_000)));
    await send({ id: "10" }, body("last"));

    await eventually(() => account.inbox.some(({ text }) => text === "last"));
    expect(account.inbox.map(({ text }) => text.slice(0, 20))).toEqual(["one\u202e[2J two", "x".repeat(20), "last"]);
    expect(new Set(account.inbox.map(({ sender }) => sender.id))).toEqual(new Set(["ada@localhost"]));
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });

  test("sends tags of a size and with attributes that nobody needs, and the next message arrives over the same link", async () => {
    const jid = `${nextBot()}@localhost`;
    const account = drive(server.port, { jid });
    await account.is("ready");
    const ada = await person(server, "ada");
    const attributes = Array.from({ length: 200 }, (_, i) => `a${i}="1"`).join(" ");

    await ada.write(`<message to="${jid}" type="chat" ${attributes}><body>many</body></message>`);
    await ada.write(`<message to="${jid}" type="chat" long="${"x".repeat(100_000)}"><body>long</body></message>`);
    await ada.write(`<message to="${jid}" type="chat"><body>last</body><a xmlns="urn:x" long="${"x".repeat(100_000)}"/></message>`);

    await eventually(() => account.inbox.some(({ text }) => text === "last"));
    // Of the first one the sender may be among what is not kept: it would seem to come from the account itself.
    expect(account.inbox.map(({ text, sender }) => [text, sender.id])).toEqual([
      ["long", "ada@localhost"],
      ["last", "ada@localhost"],
    ]);
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });

  test("cannot take the place of somebody else's message with its id", async () => {
    const jid = `${nextBot()}@localhost`;
    const account = drive(server.port, { jid });
    await account.is("ready");
    const [desk, phone] = [await person(server, "ada"), await person(server, "ada", "phone")];

    await desk.send(xml("message", { to: jid, type: "chat", id: "same" }, xml("body", {}, "one")));
    await phone.send(xml("message", { to: jid, type: "chat", id: "same" }, xml("body", {}, "one")));
    await desk.send(xml("message", { to: jid, type: "chat", id: "same" }, xml("body", {}, "two")));

    await eventually(() => account.inbox.length === 3);
    expect(new Set(account.inbox.map(({ id }) => id)).size).toBe(3);
  });
});

describe("TLS", () => {
  test("is asked for, carries a conversation, and is refused with a certificate that the config does not trust", async () => {
    const own = await ownServer({ tls: true }, "bot");
    const caPath = own.tls?.certificate.cert;
    const plain = drive(own.port, { tls: { caPath } });
    await plain.is("ready");
    await plain.stop();
    const direct = drive(own.tls?.port ?? 0, { tls: { caPath, direct: true } });
    await direct.is("ready");
    await direct.stop();

    for (const tls of [{}, { caPath, serverName: "example.org" }, { caPath: "/nowhere.pem" }]) {
      const refused = drive(own.port, { tls }, { reconnectMs: 30_000 });
      expect((await refused.is("recovering")).lastError).toMatch(/certificate|altnames|cannot be read/i);
    }
    expect((await drive(own.port, {}, { reconnectMs: 30_000 }).is("recovering")).lastError).toContain("it may want an encrypted link");
    expect((await drive(server.port, { tls: {} }, { reconnectMs: 30_000 }).is("recovering")).lastError).toContain("no STARTTLS");
  });
});
