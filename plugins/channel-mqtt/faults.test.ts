import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { eventually } from "svc/sdk/testing";
import { afterEach, expect } from "vitest";
import { type DrivenAccount, driveAccount } from "../../test/fixtures/driven-account.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { type Mosquitto, startMosquitto } from "../../test/servers/mosquitto.ts";
import { loadMqtt, loadMqttCodec, needsMqtt } from "../../test/servers/mqtt-library.ts";
import { type MqttTap, startMqttTap } from "../../test/servers/mqtt-tap.ts";
import { connectMqttUser, type MqttUser } from "../../test/servers/mqtt-user.ts";
import type { MqttAccount } from "./accounts.ts";
import { createMqttChannel } from "./channel.ts";
import type { MqttTiming } from "./timing.ts";

const { describe, test } = await needsMqtt("mosquitto", "openssl");

const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const TIMES = { reconnectMs: 20, offerMs: 10 };

async function broker(options?: Parameters<typeof startMosquitto>[0]): Promise<Mosquitto> {
  const mosquitto = await startMosquitto(options);
  ends.push(() => mosquitto.stop());
  return mosquitto;
}

async function user(port: number, topics: string[] = ["svc/+/out", "svc/status", "replies/#"]): Promise<MqttUser> {
  const person = await connectMqttUser({ port, topics });
  ends.push(() => person.close());
  return person;
}

function drive(port: number, section: object = {}, times: Partial<MqttTiming> = {}, kv = memoryKv()): DrivenAccount<MqttAccount> {
  const own = {
    host: "127.0.0.1",
    port,
    tls: { enabled: false },
    clientId: "bot",
    subscriptions: [{ topic: "svc/{sender}/in", answerTopic: "svc/{sender}/out" }],
  };
  const account = driveAccount(createMqttChannel({ load: loadMqtt, kv, times: { ...TIMES, ...times } }), { ...own, ...section });
  ends.push(() => account.stop());
  return account;
}

interface Stage {
  mosquitto: Mosquitto;
  tap: MqttTap;
  ada: MqttUser;
  account: DrivenAccount<MqttAccount>;
}

async function stage(section: object = {}, times: Partial<MqttTiming> = {}): Promise<Stage> {
  const mosquitto = await broker();
  const tap = await startMqttTap({ brokerPort: mosquitto.port });
  ends.push(() => tap.close());
  const ada = await user(mosquitto.port);
  const account = drive(tap.port, section, times);
  await account.is("ready");
  return { mosquitto, tap, ada, account };
}

const received = (account: DrivenAccount<MqttAccount>, text: string) =>
  eventually(() => account.inbox.find((event) => event.text === text));

describe("an account whose broker", () => {
  test("is killed and started again is there again and goes on", async () => {
    const { mosquitto, account } = await stage();

    await mosquitto.kill();
    await account.is("recovering");
    expect(await account.send("ada", "too early").catch((error: Error) => error.name)).toBe("NotDispatchedError");
    await mosquitto.restart();

    await account.is("ready");
    const ada = await user(mosquitto.port);
    await ada.publish("svc/ada/in", "still there?");
    await received(account, "still there?");
    await account.send("ada", "yes");
    await ada.sees("svc/ada/out", "yes");
  });

  test("keeps what is said while the account is away, over a restart of its own", async () => {
    const { mosquitto, account, ada } = await stage();
    await account.stop();
    await ada.publish("svc/ada/in", "kept for you");
    await mosquitto.shutDown();
    await mosquitto.restart();

    const next = drive(mosquitto.port);

    await received(next, "kept for you");
  });

  test("stops answering without a word is given up and linked again, and what was being sent is not known", async () => {
    const { tap, ada, account } = await stage({}, { keepaliveMs: 1_000, confirmMs: 10_000 });

    tap.stall(true);
    const failed = await account.send("ada", "into the void").catch((error: Error) => error);
    tap.stall(false);

    expect(failed).toMatchObject({ name: "Error", message: expect.stringContaining("before the broker confirmed") });
    const recovering = await eventually(() => account.states.find(({ lifecycle }) => lifecycle === "recovering"));
    expect(recovering.lastError).toMatch(/has not answered for/);
    await account.is("ready");
    await account.send("ada", "back again");
    await ada.sees("svc/ada/out", "back again");
    expect(ada.texts("svc/ada/out")).toEqual(["back again"]);
  });

  test("does not confirm a message in time loses the link, and nobody knows about the message", async () => {
    const { tap, account } = await stage({}, { confirmMs: 100 });

    tap.stall(true);
    const failed = await account.send("ada", "into the void").catch((error: Error) => error);
    tap.stall(false);

    expect(failed).toMatchObject({ name: "Error", message: "the broker did not confirm a message within 0.1 s" });
    await account.is("ready");
  });

  test("has its link cut in the middle of a message says that it is not known", async () => {
    const mosquitto = await broker();
    const ada = await user(mosquitto.port);
    let isCut = true;
    const tap = await startMqttTap({ brokerPort: mosquitto.port, onSent: ({ cmd }) => !(isCut && cmd === "publish") });
    ends.push(() => tap.close());
    const account = drive(tap.port);
    await account.is("ready");

    const failed = await account.send("ada", "cut").catch((error: Error) => error);

    expect(failed).toMatchObject({ name: "Error", message: expect.stringContaining("before the broker confirmed") });
    isCut = false;
    await eventually(() => account.states.filter(({ lifecycle }) => lifecycle === "ready").length > 1);
    await account.send("ada", "afterwards");
    await ada.sees("svc/ada/out", "afterwards");
    expect(ada.texts("svc/ada/out")).toEqual(["afterwards"]);
  });

  test("gives its session to a second gateway without a word says what that may be", async () => {
    const { mosquitto, account, ada } = await stage({}, { reconnectMs: 60_000 });

    const second = drive(mosquitto.port);
    await second.is("ready");

    expect((await account.is("recovering")).lastError).toMatch(/without a reason.*another client uses the client id "bot"/);
    await ada.publish("svc/ada/in", "who answers?");
    await received(second, "who answers?");
  });
});

describe("a message of the broker", () => {
  test("that was stored, but not acknowledged before a kill comes again under its id, however often the same was said", async () => {
    const mosquitto = await broker();
    const ada = await user(mosquitto.port);
    const [kv, texts] = [memoryKv(), ["on", "on", "off", "on"]];
    let letThrough = 2;
    // The process ends before the third acknowledgement leaves.
    const tap = await startMqttTap({ brokerPort: mosquitto.port, onSent: ({ cmd }) => cmd !== "puback" || letThrough-- > 0 });
    ends.push(() => tap.close());
    const before = drive(tap.port, {}, { reconnectMs: 60_000 }, kv);
    await before.is("ready");
    for (const text of texts) await ada.publish("svc/ada/in", text);
    await before.is("recovering");
    await before.stop();

    const after = drive(mosquitto.port, {}, {}, kv);
    await ada.publish("svc/ada/in", "last");
    await received(after, "last");

    const ids = new Map([...before.inbox, ...after.inbox].map(({ id, text }) => [id, text]));
    expect([...ids.values()].sort()).toEqual([...texts, "last"].sort());
    // The third one was handed over twice, under one id.
    expect(before.inbox.map(({ id }) => id)).toContain(after.inbox[0]?.id);
  });

  test("is offered again until the host has stored it, and acknowledged in order", async () => {
    const { account, ada, mosquitto } = await stage();
    let refusals = 2;
    account.run.receive = async (event) => {
      if (refusals-- > 0) throw new Error("no storage");
      account.inbox.push(event);
      return { status: "accepted" };
    };
    for (const text of ["one", "two", "three"]) await ada.publish("svc/ada/in", text);
    await received(account, "three");
    expect(account.inbox.map(({ text }) => text)).toEqual(["one", "two", "three"]);
    await account.stop();
    const next = drive(mosquitto.port);
    await ada.publish("svc/ada/in", "four");
    await received(next, "four");
    expect(next.inbox.map(({ text }) => text)).toEqual(["four"]);
  });

  test("that is retained, the account's own, unreadable or without an answer is not taken", async () => {
    const mosquitto = await broker();
    const ada = await user(mosquitto.port);
    await ada.publish("svc/ada/in", "said long ago", { retain: true });
    const subscriptions = [
      { topic: "svc/{sender}/in", answerTopic: "svc/{sender}/out" },
      { topic: "tools/{sender}/in", answerTopic: "tools/{sender}/out", payload: "json" },
      { topic: "silent/{sender}" },
    ];
    const account = drive(mosquitto.port, { subscriptions, responseTopics: ["replies/#", "svc/eve/in"] });
    await account.is("ready");

    await account.send("topic:svc/eve/in", "talking to myself");
    await ada.publish("svc/ada/in", Buffer.from([0x66, 0xff, 0xfe]));
    await ada.publish("tools/ada/in", "no JSON");
    await ada.publish("tools/ada/in", '{"text": 5}');
    await ada.publish("silent/ada", "who hears me?");
    await ada.publish("silent/ada", "nor here", { properties: { responseTopic: "home/door/unlock" } });
    await ada.publish("svc//in", "nobody said this");
    await ada.publish("tools/ada/in", JSON.stringify({ text: "\u001b[2Jhello\u0007", name: "Ada" }));

    await received(account, "[2Jhello");
    expect(account.inbox).toMatchObject([{ text: "[2Jhello", sender: { id: "ada", name: "Ada" } }]);
    const logged = account.logs.join("\n");
    for (const reason of ["not UTF-8", "not a JSON object with a text", "no topic for its answer", "no name"])
      expect(logged).toContain(reason);
    expect(logged).not.toContain("who hears me");
  });

  test("names where its answer goes, and its correlation data comes back with it", async () => {
    const { account, ada } = await stage({ responseTopics: ["replies/+"] });
    const correlationData = Buffer.from([0, 1, 2, 0xff]);

    await ada.publish("svc/ada/in", "what time is it?", { properties: { responseTopic: "replies/ada-7", correlationData } });
    const event = await received(account, "what time is it?");
    await account.send(event.peer.id, "late");

    const answer = await ada.sees("replies/ada-7", "late");
    expect(answer.properties?.correlationData).toEqual(correlationData);
    await ada.publish("svc/ada/in", "and here?", { properties: { responseTopic: "home/door/unlock" } });
    expect((await received(account, "and here?")).peer.id).toBe("ada");
    expect(await account.send("topic:home/door/unlock", "no").catch((error: unknown) => error)).toMatchObject({ isPermanent: true });
  });

  test("that is larger than allowed is left out by the broker, and floods without confirmation are bounded", async () => {
    const { account, ada } = await stage({ maxPacketBytes: 2_000 });
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    account.run.receive = async (event) => {
      await opened;
      account.inbox.push(event);
      return { status: "accepted" };
    };

    await ada.publish("svc/ada/in", "x".repeat(3_000));
    for (let i = 0; i < 400; i += 1) void ada.publish("svc/ada/in", `flood ${i}`, { qos: 0 });
    await ada.publish("svc/ada/in", "after the flood");
    open();

    await received(account, "after the flood");
    expect(account.inbox.length).toBeLessThan(400);
    expect(account.inbox.some(({ text }) => text.startsWith("x"))).toBe(false);
    await eventually(() => account.logs.some((line) => line.includes("were lost")));
    expect(account.state().lifecycle).toBe("ready");
  });
});

describe("a message to the broker", () => {
  test("that its rules refuse fails for ever", async () => {
    const mosquitto = await broker({ acl: "topic read svc/#\ntopic write svc/status\n" });
    const account = drive(mosquitto.port);
    await account.is("ready");

    const refused = await account.send("ada", "hi").catch((error: unknown) => error);

    expect(refused).toMatchObject({ name: "SendRefusedError", isPermanent: true, message: expect.stringContaining("not authorized") });
  });

  test("carries an id that is the same at each try, and JSON where the config says so", async () => {
    const { account, ada } = await stage({
      name: "Svc",
      subscriptions: [{ topic: "svc/{sender}/in", answerTopic: "svc/{sender}/out", payload: "json" }],
    });

    expect(await account.send("ada", "hello")).toMatchObject({ messageId: "u" });

    const packet = await ada.sees("svc/ada/out", JSON.stringify({ text: "hello", id: "u", name: "Svc" }));
    expect(packet.properties).toMatchObject({
      contentType: "application/json",
      userProperties: { "svc-message": "u", "svc-client": "bot" },
    });
  });
});

describe("the status topic", () => {
  test("says when the account is there, when it leaves, and when it is lost", async () => {
    const { account, ada, tap, mosquitto } = await stage({ status: { topic: "svc/status" } });
    await ada.sees("svc/status", "online");

    await account.stop();
    await ada.sees("svc/status", "offline");

    const lost = drive(tap.port, { status: { topic: "svc/status", offline: "lost" } }, { reconnectMs: 60_000 });
    await lost.is("ready");
    tap.cut();
    await ada.sees("svc/status", "lost");
    const late = await user(mosquitto.port, ["svc/status"]);
    expect((await late.sees("svc/status", "lost")).retain).toBe(true);
  });
});

describe("TLS", () => {
  test("carries a conversation with a broker whose certificate the config trusts, and none with another", async () => {
    const mosquitto = await broker({ tls: true });
    const { port, certificate } = mosquitto.tls as NonNullable<Mosquitto["tls"]>;
    const stranger = drive(port, { tls: {} });
    const account = drive(port, { clientId: "bot2", tls: { caPath: certificate.cert } });
    const ada = await user(mosquitto.port);

    await account.is("ready");
    await account.send("ada", "in private");
    await ada.sees("svc/ada/out", "in private");
    expect((await stranger.is("recovering")).lastError).toMatch(/self-signed certificate/);
  });

  test("names a file that cannot be read", async () => {
    const account = drive(1, { tls: { caPath: "/nowhere/ca.pem" } });
    expect((await account.is("recovering")).lastError).toBe("/nowhere/ca.pem cannot be read (ENOENT)");
  });
});

describe("a server that is no broker, or a bad one,", () => {
  /** Answers each connection by hand. */
  async function scripted(onConnection: (socket: Socket) => void): Promise<number> {
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket.on("error", () => undefined));
      onConnection(socket);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    ends.push(async () => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }
  const packet = (content: object) => loadMqttCodec().generate(content, { protocolVersion: 5 });
  const connack = (reasonCode = 0) => packet({ cmd: "connack", sessionPresent: false, reasonCode });
  const publish = (messageId: number, more: object = {}) =>
    packet({ cmd: "publish", topic: "svc/ada/in", payload: "hi", qos: 1, messageId, dup: false, retain: false, ...more });

  test.each([
    ["speaks HTTP", () => Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"), /no MQTT|broker announced|link failed|closed the link/],
    ["announces a packet of 200 MB", () => Buffer.from([0x30, 0x80, 0xa0, 0xaf, 0x60]), /announced a packet of \d+ bytes/],
    ["sends a length without an end", () => Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x7f]), /length is too long|link failed/],
    ["sends noise", () => Buffer.from([0xf0, 0x02, 0x13, 0x37, 0x00, 0x00, 0x00]), /link failed/],
    ["accepts twice", () => Buffer.concat([connack(), connack()]), /duplicate CONNACK/],
    [
      "sends a message without a topic",
      () => Buffer.concat([connack(), publish(1, { topic: "", properties: { topicAlias: 3 } })]),
      /Topic Alias/,
    ],
    [
      "sends a message that is confirmed twice",
      () => Buffer.concat([connack(), publish(1, { qos: 2 }), packet({ cmd: "pubrel", messageId: 1 })]),
      /QoS 2/,
    ],
    ["is busy", () => connack(0x89), /it is busy/],
    ["shuts down", () => Buffer.concat([connack(), packet({ cmd: "disconnect", reasonCode: 0x8b })]), /shuts down/],
  ])("%s: the account says so, and tries again", async (_name, bytes, words) => {
    let links = 0;
    const port = await scripted((socket) => {
      links += 1;
      socket.once("data", () => socket.write(bytes()));
    });
    const account = drive(port);
    account.run.receive = () => new Promise(() => undefined);

    expect((await account.is("recovering")).lastError).toMatch(words);
    await eventually(() => links > 1);
  });

  test.each([
    [0x84, "does not speak MQTT 5"],
    [0x85, "client id"],
    [0x86, "wrong user name or password"],
    [0x87, "not authorized"],
    [0x8a, "banned"],
  ])("refuses the account with %i: it is blocked", async (code, words) => {
    let links = 0;
    const port = await scripted((socket) => {
      links += 1;
      socket.once("data", () => socket.end(connack(code)));
    });
    const account = drive(port);

    expect((await account.is("blocked")).lastError).toContain(words);
    expect(links).toBe(1);
  });

  test("says that another client has taken the session: the account does not fight for it", async () => {
    let links = 0;
    const port = await scripted((socket) => {
      links += 1;
      socket.once("data", () => socket.end(Buffer.concat([connack(), packet({ cmd: "disconnect", reasonCode: 0x8e })])));
    });

    expect((await drive(port).is("blocked")).lastError).toMatch(
      /another client connected with the client id "bot".*svc channels start mqtt/,
    );
    expect(links).toBe(1);
  });

  test("is silent: the account does not wait for ever", async () => {
    const port = await scripted((socket) => void socket.resume());
    const account = drive(port, {}, { acceptMs: 50 });
    expect((await account.is("recovering")).lastError).toBe("the broker did not accept the account within 0.05 s");
  });

  test("uses identifiers again: what is said twice is two messages, and what comes twice is one", async () => {
    const subscriptions: unknown[] = [];
    let link: Socket | undefined;
    let links = 0;
    const acknowledged: number[] = [];
    const port = await scripted((socket) => {
      const parser = loadMqttCodec().parser({ protocolVersion: 5 });
      link = socket;
      parser.on("packet", ({ cmd, messageId, ...more }) => {
        if (cmd === "connect") socket.write(packet({ cmd: "connack", sessionPresent: links++ > 0, reasonCode: 0 }));
        if (cmd === "subscribe") {
          subscriptions.push(...(more as { subscriptions: unknown[] }).subscriptions);
          socket.write(packet({ cmd: "suback", messageId, granted: [1] }));
        }
        if (cmd === "puback") acknowledged.push(messageId ?? 0);
      });
      socket.on("data", (chunk) => parser.parse(chunk));
    });
    const account = drive(port);
    await account.is("ready");
    const send = async (more: object = {}) => {
      const before = acknowledged.length;
      link?.write(publish(1, more));
      await eventually(() => acknowledged.length > before);
    };

    await send();
    await send();
    await send({ retain: true });
    await send({ properties: { userProperties: { "svc-client": "bot" } } });
    expect(account.inbox).toHaveLength(2);
    expect(account.inbox[0]?.id).not.toBe(account.inbox[1]?.id);
    link?.destroy();
    await eventually(() => links > 1 && account.state().lifecycle === "ready");
    await send({ dup: true });
    expect(account.inbox.map(({ id }) => id)).toEqual([account.inbox[0]?.id, account.inbox[1]?.id, account.inbox[1]?.id]);
    expect(subscriptions[0]).toMatchObject({ topic: "svc/+/in", qos: 1, nl: true, rap: false, rh: 2 });
  });

  test("refuses a subscription: the account says which", async () => {
    const port = await scripted((socket) => {
      socket.once("data", () => socket.write(connack()));
      socket.on("data", (chunk) => {
        if (chunk[0] === 0x82) socket.write(packet({ cmd: "suback", messageId: chunk.readUInt16BE(2), granted: [0x87] }));
      });
    });
    expect((await drive(port).is("blocked")).lastError).toMatch(/svc\/\+\/in.*not authorized/);
  });
});

describe("an audit", () => {
  test("says what is fine, and what is not", async () => {
    const mosquitto = await broker();
    const account = drive(mosquitto.port, { sessionExpirySeconds: 0 });
    await account.is("ready");
    const channel = createMqttChannel({ load: loadMqtt, kv: memoryKv() });

    const findings = await channel.audit?.(account.run.account, AbortSignal.timeout(10_000));

    expect(findings).toMatchObject([
      { id: "tls", ok: true },
      { id: "connection", ok: true },
      { id: "session", ok: false },
      { id: "topic svc/{sender}/in", ok: true },
    ]);
    expect(account.state().lifecycle).toBe("ready");
  });
});
