import { eventually } from "svc/sdk/testing";
import { afterEach, expect } from "vitest";
import { type DrivenAccount, driveAccount } from "../../test/fixtures/driven-account.ts";
import { type IrcTap, startIrcTap } from "../../test/servers/irc-tap.ts";
import { connectUser, type IrcUser } from "../../test/servers/irc-user.ts";
import { needs } from "../../test/servers/needs.ts";
import { type Ngircd, startNgircd } from "../../test/servers/ngircd.ts";
import type { IrcAccount } from "./accounts.ts";
import { createIrcChannel } from "./channel.ts";
import type { IrcTiming } from "./timing.ts";

const { describe, test } = needs("ngircd", "openssl");

const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** An account, ngircd, a tap between them, and somebody to talk to. */
interface Stage {
  server: Ngircd;
  tap: IrcTap;
  ada: IrcUser;
  account: DrivenAccount<IrcAccount>;
}

async function server(options?: Parameters<typeof startNgircd>[0]): Promise<Ngircd> {
  const ngircd = await startNgircd(options);
  ends.push(() => ngircd.stop());
  return ngircd;
}

async function user(ngircd: Ngircd, nick: string): Promise<IrcUser> {
  const person = await connectUser({ port: ngircd.port, nick });
  ends.push(() => person.close());
  return person;
}

function drive(port: number, section: object = {}, times: Partial<IrcTiming> = {}): DrivenAccount<IrcAccount> {
  const own = { host: "127.0.0.1", port, tls: { enabled: false }, nick: "bot", rooms: ["#kitchen"], burstLines: 100, lineIntervalMs: 0 };
  const account = driveAccount(createIrcChannel({ reconnectMs: 20, offerMs: 10, ...times }), { ...own, ...section });
  ends.push(() => account.stop());
  return account;
}

async function stage(section: object = {}, times: Partial<IrcTiming> = {}): Promise<Stage> {
  const ngircd = await server();
  const tap = await startIrcTap({ serverPort: ngircd.port });
  ends.push(() => tap.close());
  const ada = await user(ngircd, "ada");
  const account = drive(tap.port, section, times);
  await account.is("ready");
  return { server: ngircd, tap, ada, account };
}

const saidTo = (person: IrcUser, text: string) => person.lines.filter((line) => line.endsWith(` :${text}`)).length;

describe("an account whose server", () => {
  test("is killed and started again is there again, in its rooms, and goes on", async () => {
    const { server: ngircd, account } = await stage();

    await ngircd.kill();
    await account.is("recovering");
    expect(await account.send("ada", "too early").catch((error: Error) => error.name)).toBe("NotDispatchedError");
    await ngircd.restart();

    await account.is("ready");
    const ada = await user(ngircd, "ada");
    await ada.join("#kitchen");
    await ada.say("#kitchen", "still there?");
    await eventually(() => account.inbox.some(({ text }) => text === "still there?"));
    await account.send("#kitchen", "yes");
    await ada.sees(/^:bot!\S+ PRIVMSG #kitchen :yes$/);
  });

  test("stops answering without a word is given up and linked again, and what was being sent is not known", async () => {
    const { tap, ada, account } = await stage({}, { pingMs: 100, pongMs: 100, confirmMs: 10_000 });

    tap.stall(true);
    const failed = await account.send("ada", "into the void").catch((error: Error) => error);
    tap.stall(false);

    expect(failed).toMatchObject({ name: "Error", message: expect.stringContaining("before the server confirmed") });
    expect(account.states.find(({ lifecycle }) => lifecycle === "recovering")?.lastError).toMatch(/has not answered for/);
    await account.is("ready");
    await account.send("ada", "back again");
    await ada.sees(/PRIVMSG ada :back again$/);
    expect(saidTo(ada, "into the void")).toBe(0);
  });

  test("has its link cut in the middle of a message says that it is not known, or confirms it", async () => {
    const { server: ngircd, ada } = await stage();
    let isCut = true;
    const tap = await startIrcTap({ serverPort: ngircd.port, onLine: (line) => !(isCut && line === "PRIVMSG ada :three") });
    ends.push(() => tap.close());
    const account = drive(tap.port, { nick: "bot2", rooms: [] });
    await account.is("ready");

    const failed = await account.send("ada", "one\ntwo\nthree").catch((error: Error) => error);

    expect(failed).toMatchObject({ name: "Error", message: expect.stringContaining("link") });
    await ada.confirm();
    expect(["one", "two", "three"].map((text) => saidTo(ada, text))).toEqual([1, 1, 0]);
    isCut = false;
    await eventually(() => account.states.filter(({ lifecycle }) => lifecycle === "ready").length > 1);
    await account.send("ada", "afterwards");
    await ada.confirm();
    expect(saidTo(ada, "afterwards")).toBe(1);
  });
});

describe("a nick", () => {
  test("that somebody has is taken as soon as they leave", async () => {
    const ngircd = await server();
    const holder = await user(ngircd, "bot");
    await holder.join("#kitchen");
    const account = drive(ngircd.port);
    await account.is("ready");
    expect(account.state().self?.name).toBe("bot_");

    await holder.close();

    await eventually(() => expect(account.state().self?.name).toBe("bot") ?? true);
    const ada = await user(ngircd, "ada");
    await ada.say("bot", "is it you?");
    await eventually(() => account.inbox.some(({ text, chatType }) => text === "is it you?" && chatType === "direct"));
  });

  test("that the server shortens or refuses is said", async () => {
    const ngircd = await server();
    const account = drive(ngircd.port, {
      nick: "a-nick-that-is-longer-than-the-server-allows",
      nickAlternatives: ["another-one-that-is-as-long-as-this"],
    });

    const fallback = await account.is("ready");

    expect(fallback.self?.name).toMatch(/^a-nic\d{4}$/);
  });
});

describe("a message", () => {
  test.each([
    ["nobody", "eve", "there is nobody called eve"],
    ["a room that does not exist", "#nowhere", "#nowhere"],
    ["a room that takes words only from inside", "#inside", "#inside"],
  ])("to %s fails for ever", async (_name, to, words) => {
    const { ada, account } = await stage();
    await ada.join("#inside");
    ada.send("MODE #inside +n");
    await ada.confirm();

    const refused = await account.send(to, "hi").catch((error: unknown) => error);

    expect(refused).toMatchObject({ name: "SendRefusedError", isPermanent: true, message: expect.stringContaining(words) });
    await account.send("ada", "the next one goes");
  });

  test("to two people at once arrives whole at each: messages take their turns", async () => {
    const { server: ngircd, ada, account } = await stage();
    const bob = await user(ngircd, "bob");
    const texts = Array.from({ length: 20 }, (_, i) => `line ${i}`);

    await Promise.all(texts.flatMap((text) => [account.send("ada", text), account.send("bob", text)]));

    for (const person of [ada, bob]) {
      await person.confirm();
      const got = person.lines.flatMap((line) => / PRIVMSG \S+ :(.*)$/.exec(line)?.[1] ?? []);
      expect(got).toEqual(texts);
    }
  });

  test("with control characters, colours and marks that turn text around arrives as plain text", async () => {
    const { ada, account } = await stage();

    await ada.say("bot", "\u0002bold\u000f \u000304red\u0003 \u001b[2J \u0007bell");
    await ada.say("bot", "\u0001ACTION waves\u0001");
    await ada.say("bot", "\u0001VERSION\u0001");
    await ada.say("bot", "last");

    await eventually(() => account.inbox.some(({ text }) => text === "last"));
    expect(account.inbox.map(({ text }) => text)).toEqual(["bold red [2J bell", "* ada waves", "last"]);
    expect(ada.lines.some((line) => line.includes("NOTICE ada"))).toBe(false);
  });

  test("of a user who writes Latin-1 is read", async () => {
    const { ada, account } = await stage();

    await ada.sayBytes("bot", Buffer.from("caf\xe9", "latin1"));

    expect((await eventually(() => account.inbox[0])).text).toBe("café");
  });
});

describe("TLS", () => {
  test("carries a conversation with a server whose certificate the config trusts", async () => {
    const ngircd = await server({ tls: true });
    const account = drive(ngircd.tls?.port ?? 0, { tls: { caPath: ngircd.tls?.certificate.cert } });
    await account.is("ready");
    const ada = await user(ngircd, "ada");

    await ada.say("bot", "over TLS");
    await eventually(() => account.inbox.some(({ text }) => text === "over TLS"));
    await account.send("ada", "and back");

    await ada.sees(/PRIVMSG ada :and back$/);
  });
});

test("an account with the server's password wrong is blocked, and right it is not", async () => {
  const ngircd = await server({ password: "pw-77aa31" });
  const wrong = drive(ngircd.port, { password: "pw-00bb42" });

  expect((await wrong.is("blocked")).lastError).toContain("Bad password?");
  await drive(ngircd.port, { password: "pw-77aa31" }).is("ready");
});

test("an account that an operator has banned is blocked, and does not knock again", async () => {
  const ngircd = await server();
  const operator = await user(ngircd, "boss");
  operator.send("OPER operator operator-pw");
  operator.send("KLINE bot!*@* 600 :no programs here");
  await operator.confirm();
  const tap = await startIrcTap({ serverPort: ngircd.port });
  ends.push(() => tap.close());
  const account = drive(tap.port);

  expect((await account.is("blocked")).lastError).toContain("no programs here");
  expect(account.states.map(({ lifecycle }) => lifecycle)).toEqual(["starting", "blocked"]);
});
