import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { channelConfig } from "../../test/fixtures/driven-account.ts";
import { drive, endAll, ends, fake, sectionOf } from "../../test/fixtures/irc-network.ts";
import { makeCertificate } from "../../test/servers/certificate.ts";
import { needs } from "../../test/servers/needs.ts";
import { createIrcChannel } from "./channel.ts";

afterEach(endAll);

const accounts = { botacc: "pw-5d0c7a1e" };
const sasl = { user: "botacc", password: "pw-5d0c7a1e" };

describe("SASL", () => {
  test("identifies the account by its password before it takes part", async () => {
    const server = await fake({ accounts, caps: ["account-tag"] });
    const account = drive(server.port, { sasl });

    await account.is("ready");

    expect([...server.clients].map((client) => client.account)).toEqual(["botacc"]);
    expect(account.state().self).toEqual({ id: "botacc", name: "bot" });
    expect(server.received.indexOf("CAP END")).toBeGreaterThan(server.received.findIndex((line) => line.startsWith("AUTHENTICATE ")));
  });

  test("sends a long password in pieces", async () => {
    const password = "p".repeat(400);
    const server = await fake({ accounts: { botacc: password } });
    const account = drive(server.port, { sasl: { user: "botacc", password } });

    await account.is("ready");

    const pieces = server.received.filter((line) => line.startsWith("AUTHENTICATE ")).slice(1);
    expect(pieces.map((line) => line.length - "AUTHENTICATE ".length <= 400)).toEqual([true, true]);
  });

  test("blocks the account when the password is wrong, without a second try and without telling it", async () => {
    const server = await fake({ accounts });
    const account = drive(server.port, { sasl: { user: "botacc", password: "pw-wrong-1" } });

    const { lastError } = await account.is("blocked");

    expect(lastError).toContain("SASL authentication failed (904)");
    expect(server.opened).toBe(1);
    expect(`${account.logs.join()}${JSON.stringify(account.states)}`).not.toContain("pw-wrong-1");
  });

  test("blocks it when the server has another mechanism only", async () => {
    const server = await fake({ accounts, mechanisms: "SCRAM-SHA-256" });
    const account = drive(server.port, { sasl });

    expect((await account.is("blocked")).lastError).toContain("SCRAM-SHA-256, and not PLAIN");
  });

  test("is waited for while the services are away: the account does not take part without it", async () => {
    const server = await fake({ caps: ["account-tag"] });
    const account = drive(server.port, { sasl });

    expect((await account.is("recovering")).lastError).toContain("offers no SASL now");
    expect(server.received.join()).not.toContain("AUTHENTICATE");
    expect(account.states.some(({ lifecycle }) => lifecycle === "ready")).toBe(false);
  });
});

test("an account that has to identify itself does not take part on a server that knows no extensions", async () => {
  const server = await fake({ script: (line) => (line.startsWith("CAP ") ? [] : undefined) });
  const account = drive(server.port, { sasl });

  expect((await account.is("recovering")).lastError).toContain("offers no SASL now");
  expect(account.states.some(({ lifecycle }) => lifecycle === "ready")).toBe(false);
});

needs("openssl").describe("TLS", () => {
  let folder = "";
  let server: { cert: string; key: string };
  let own: { cert: string; key: string };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-irc-tls-"));
    server = await makeCertificate(folder, "server");
    own = await makeCertificate(folder, "own", "botacc");
    return () => rm(folder, { recursive: true, force: true });
  });
  const secure = async () => fake({ accounts, tls: { cert: await readFile(server.cert), key: await readFile(server.key) } });

  test("SASL EXTERNAL identifies the account by its certificate", async () => {
    const irc = await secure();
    const tls = { caPath: server.cert, certPath: own.cert, keyPath: own.key };
    const account = drive(irc.port, { tls, sasl: { mechanism: "EXTERNAL" } });

    await account.is("ready");

    expect([...irc.clients].map((client) => client.account)).toEqual(["botacc"]);
  });

  test("a certificate of an authority that is not trusted ends the link before anything is sent", async () => {
    const { port, received } = await secure();
    const account = drive(port, { tls: {}, sasl });

    expect((await account.is("recovering")).lastError).toMatch(/self-signed certificate/);
    expect(received).toEqual([]);
  });

  test("a pinned certificate needs no authority, and any other is refused before anything is sent", async () => {
    const { port, received } = await secure();
    const wrong = "AA:".repeat(31).concat("AA");
    const refused = drive(port, { tls: { fingerprints: [wrong] }, sasl });

    const { lastError = "" } = await refused.is("recovering");
    expect(lastError).toContain("none of tls.fingerprints");
    expect(received).toEqual([]);
    await refused.stop();

    const shown = /([0-9A-F]{2}:){31}[0-9A-F]{2}/.exec(lastError)?.[0] ?? "";
    await drive(port, { tls: { fingerprints: [wrong, shown.toLowerCase().replaceAll(":", "")] }, sasl }).is("ready");
  });

  test("a certificate file that is not there is said by its path", async () => {
    const { port } = await secure();
    const account = drive(port, { tls: { caPath: join(folder, "none.pem") } });

    expect((await account.is("recovering")).lastError).toContain("none.pem cannot be read (ENOENT)");
  });
});

describe("the nick", () => {
  test("is the next one while the first is in use, and the first again as soon as its holder leaves", async () => {
    const server = await fake({ taken: ["bot"] });
    const account = drive(server.port, { nickAlternatives: ["botto"] });
    await account.is("ready");
    expect(account.state().self?.name).toBe("botto");

    server.taken.delete("bot");
    server.send(":bot!~b@else.where QUIT :gone");

    await eventually(() => expect(account.state().self?.name).toBe("bot") ?? true);
  });

  test("is asked for again from time to time", async () => {
    const server = await fake({ taken: ["bot"] });
    const account = drive(server.port, {}, { againMs: 30 });
    await account.is("ready");
    expect(account.state().self?.name).toBe("bot_");

    server.taken.delete("bot");

    await eventually(() => expect(account.state().self?.name).toBe("bot") ?? true);
  });

  test("that no server accepts blocks the account", async () => {
    const server = await fake({
      script: (line) => (line.startsWith("NICK ") ? [`:irc.fake.example 432 * ${line.slice(5)} :Erroneous nickname`] : undefined),
    });
    const account = drive(server.port);

    expect((await account.is("blocked")).lastError).toContain("accepts none of the nicks: Erroneous nickname");
  });
});

describe("a link", () => {
  test("on which nothing comes back is given up", async () => {
    let isDead = false;
    const server = await fake({ script: () => (isDead ? [] : undefined) });
    const account = drive(server.port, {}, { pingMs: 50, pongMs: 50 });
    await account.is("ready");

    isDead = true;

    expect((await account.is("recovering")).lastError).toMatch(/the server has not answered for \d+ s/);
  });

  test("that is silent but alive is kept", async () => {
    const server = await fake();
    const account = drive(server.port, {}, { pingMs: 20, pongMs: 2_000 });
    await account.is("ready");

    await eventually(() => server.received.filter((line) => line === "PING svc-alive").length > 3);

    expect([account.state().lifecycle, server.opened]).toEqual(["ready", 1]);
  });

  test.each([
    ["465", [":irc.fake.example 465 * :You are banned from this server"]],
    ["464", [":irc.fake.example 464 * :Password incorrect"]],
    ["a ban in its last words", ["ERROR :Closing Link: 127.0.0.1 (K-Lined: no bots)"]],
    ["a ban in its last words, with an address", ["ERROR :Closing Link: bot[~b@host.example] (You are banned. - Email ban@irc.example)"]],
    ["a wrong password in its last words", ["ERROR :Access denied: Bad server password"]],
  ])("that is refused with %s blocks the account", async (_name, answer) => {
    const server = await fake({ script: (line) => (line.startsWith("USER ") ? answer : undefined) });
    const account = drive(server.port);

    await account.is("blocked");

    expect(server.opened).toBe(1);
  });

  test("that a running account loses by a ban blocks it as soon as the server refuses the next one", async () => {
    let isBanned = false;
    const server = await fake({
      script: (line) => (isBanned && line.startsWith("USER ") ? ["ERROR :Closing Link: fake.host (G-Lined: spam)"] : undefined),
    });
    const account = drive(server.port);
    await account.is("ready");

    isBanned = true;
    server.send("ERROR :Closing Link: bot (G-Lined: spam)");

    expect((await account.is("blocked")).lastError).toContain("G-Lined: spam");
    expect(server.opened).toBe(2);
  });

  test("that a running account loses is made again, whatever words the server or an operator has for it", async () => {
    const server = await fake();
    const account = drive(server.port);
    await account.is("ready");

    server.send("ERROR :Closing Link: fake.host (Quit: no password needed, access denied, you are banned)");

    await eventually(() => account.states.filter(({ lifecycle }) => lifecycle === "ready").length === 2);
    expect(account.states.some(({ lifecycle }) => lifecycle === "blocked")).toBe(false);
  });

  test.each([
    "Closing Link: 127.0.0.1 (Throttled: Reconnecting too fast)",
    "Closing Link: bot (Killed (oper (be nice)))",
    "Closing Link: bot (Killed (oper (password guessing, next time a ban)))",
    "Closing Link: k-line.example.net by irc.ban.example (Ping timeout)",
    "Closing Link: bot[~ban@host.example] (Connection timed out)",
    "Your host is trying to reconnect too fast - Email ban@irc.example for more",
    "Server shutting down",
  ])("that is closed with %j is made again", async (words) => {
    let isFirst = true;
    const server = await fake({
      script(line) {
        if (!line.startsWith("USER ") || !isFirst) return undefined;
        isFirst = false;
        return [`ERROR :${words}`];
      },
    });
    const account = drive(server.port);

    await account.is("ready");

    expect(server.opened).toBe(2);
    expect(account.states.map(({ lifecycle }) => lifecycle)).toEqual(expect.arrayContaining(["recovering", "ready"]));
  });

  test("is ended by a line without an end, before it fills the memory", async () => {
    const server = await fake();
    const account = drive(server.port);
    await account.is("ready");

    server.send(`:ada!~a@host PRIVMSG bot :${"x".repeat(20_000)}`);

    expect((await account.is("recovering")).lastError).toContain("longer than 16384 bytes");
  });

  test("whose server floods the account is read no faster than the host takes the messages", async () => {
    const server = await fake();
    const account = drive(server.port);
    await account.is("ready");
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let taken = 0;
    account.run.receive = async () => {
      taken += 1;
      await gate;
      return { status: "accepted" };
    };
    const text = "y".repeat(400);

    for (let i = 0; i < 20_000; i += 1) server.send(`:ada!~a@host PRIVMSG bot :${i} ${text}`);
    server.send(":bot!~svc@fake.host NICK :afterwards");
    await eventually(() => taken > 0);
    // Without a pause the last line would be read by then.
    await sleep(500);
    const nameWhilePaused = account.state().self?.name;
    open();

    await eventually(() => taken === 20_000);
    await eventually(() => account.state().self?.name === "afterwards");
    expect(nameWhilePaused).toBe("bot");
  });

  test("keeps what the host cannot store now, and hands it over in the order of its arrival", async () => {
    const server = await fake();
    const account = drive(server.port, {}, { offerMs: 5 });
    await account.is("ready");
    const tries: string[] = [];
    const taken: string[] = [];
    account.run.receive = async ({ text }) => {
      tries.push(text);
      if (tries.length <= 6) throw new Error("no storage");
      taken.push(text);
      return { status: "accepted" };
    };

    for (const text of ["one", "two", "three"]) server.send(`:ada!~a@host PRIVMSG bot :${text}`);

    await eventually(() => taken.length === 3);
    expect(taken).toEqual(["one", "two", "three"]);
    expect(tries.slice(0, 7)).toEqual(Array(7).fill("one"));
  });

  test("drops at once what the host will never take, with a line in the log, and goes on", async () => {
    const server = await fake();
    const account = drive(server.port, {}, { offerMs: 60_000 });
    await account.is("ready");
    const taken: string[] = [];
    account.run.receive = async ({ text }) => {
      if (text === "bad") throw new TypeError("expected an id of the sender");
      taken.push(text);
      return { status: "accepted" };
    };

    for (const text of ["bad", "good"]) server.send(`:ada!~a@host PRIVMSG bot :${text}`);

    await eventually(() => taken.length === 1);
    expect(account.logs.filter((line) => line.includes("expected an id of the sender"))).toHaveLength(1);
  });

  test("that ends while the host cannot store anything says how many messages are lost", async () => {
    const server = await fake();
    const account = drive(server.port, {}, { offerMs: 60_000 });
    await account.is("ready");
    let tries = 0;
    account.run.receive = async () => {
      tries += 1;
      throw new Error("no storage");
    };
    for (const text of ["one", "two"]) server.send(`:ada!~a@host PRIVMSG bot :${text}`);
    await eventually(() => tries > 0);

    for (const client of server.clients) client.close();

    await eventually(() =>
      account.logs.some((line) => line.includes("2 messages were not taken, and the platform does not keep them: no storage")),
    );
    expect(tries).toBe(3);
  });
});

test("messages from somebody who is logged in as the account itself are its own for the host: the log says so, once", async () => {
  const server = await fake({ accounts, caps: ["account-tag"] });
  const account = drive(server.port, { sasl });
  await account.is("ready");

  for (const text of ["one", "two"]) server.send(`@account=BotAcc :ada!~a@host PRIVMSG bot :${text}`);

  await eventually(() => account.inbox.length === 2);
  expect(account.logs.filter((line) => line.includes("ada is logged in as botacc, the services account of this account"))).toHaveLength(1);
});

describe("rooms", () => {
  test("are joined with their keys, and one that refuses is said once and tried again", async () => {
    let isOpen = false;
    const server = await fake({
      script(line) {
        if (isOpen || !line.startsWith("JOIN ") || !line.includes("#closed")) return undefined;
        const open = line.includes("#open") ? ["#secret", "#open"].map((room) => `:bot!~svc@fake.host JOIN ${room}`) : [];
        return [...open, ":irc.fake.example 474 bot #closed :Cannot join channel (+b)"];
      },
    });
    const account = drive(server.port, { rooms: ["#open", { name: "#secret", key: "key-77" }, "#closed"] }, { againMs: 30 });
    await account.is("ready");

    const joins = () => server.received.filter((line) => line.startsWith("JOIN"));
    expect(joins()[0]).toBe("JOIN #secret,#open,#closed key-77");
    await eventually(() => joins().length > 2);
    expect(account.logs.filter((line) => line.includes("#closed cannot be joined: Cannot join channel (+b) (474)"))).toHaveLength(1);
    isOpen = true;
    await eventually(() => joins().length > 3);
  });

  test("the account was taken out of tell no more who somebody is", async () => {
    const server = await fake({ caps: ["extended-join"] });
    const account = drive(server.port, { rooms: ["#a"] });
    await account.is("ready");
    const sender = async (text: string) => {
      server.send(`:ada!~a@host PRIVMSG bot :${text}`);
      return (await eventually(() => account.inbox.find((event) => event.text === text))).sender.id;
    };
    server.send(":ada!~a@host JOIN #a AdaL :Ada");
    expect(await sender("before")).toBe("adal");

    server.send(":bot!~svc@fake.host PART #a :forced");

    expect(await sender("after")).toBe("ada!~a@host");
  });

  test("have the name that the config gives them, however somebody writes it", async () => {
    const server = await fake();
    const account = drive(server.port, { rooms: ["#Den[1]"] });
    await account.is("ready");

    server.send(":ada!~a@host PRIVMSG #den{1} :hi");

    expect((await eventually(() => account.inbox[0])).peer).toEqual({ id: "#Den[1]", name: "#den{1}" });
  });

  test("the account was removed from are joined again", async () => {
    const server = await fake();
    const account = drive(server.port, { rooms: ["#a"] }, { againMs: 30 });
    await account.is("ready");

    server.send(":op!~o@host KICK #A bot :bye");

    await eventually(() => account.logs.join().includes("the account was removed from #A: bye"));
    await eventually(() => server.received.filter((line) => line === "JOIN #a").length === 2);
  });
});

describe("a probe", () => {
  const look = async (port: number, section: object = {}) => {
    const channel = createIrcChannel();
    const account = channel.config.resolve(channelConfig("irc", sectionOf(port, section)), "default");
    const signal = AbortSignal.timeout(10_000);
    return { probe: await channel.probe?.(account, signal), audit: await channel.audit?.(account, signal) };
  };

  test("says who the account is on which network, and an audit what is wrong there", async () => {
    const server = await fake({
      accounts,
      script: (line) => (line === "MODE #keyed" ? [":irc.fake.example 324 bot #keyed +knt"] : undefined),
    });
    const { probe, audit } = await look(server.port, { sasl, rooms: ["#keyed"] });

    expect(probe).toMatchObject({ ok: true, identity: "botacc on FakeNet" });
    expect(audit?.map(({ id, ok }) => [id, ok])).toEqual([
      ["tls", true],
      ["registration", true],
      ["identities", false],
      ["room #keyed", false],
    ]);
    expect(server.received.some((line) => /^(?:PRIVMSG|JOIN|NOTICE)/.test(line))).toBe(false);
  });

  test("of a server that is not there says so", async () => {
    const server = await fake();
    await server.close();
    ends.splice(0);
    const { probe, audit } = await look(server.port);

    expect(probe).toMatchObject({ ok: false, error: expect.stringContaining("ECONNREFUSED") });
    expect(audit?.at(-1)).toMatchObject({ id: "registration", ok: false });
  });
});
