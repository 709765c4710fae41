import { setTimeout as sleep } from "node:timers/promises";
import { NotDispatchedError } from "svc/sdk";
import { eventually } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { drive, endAll, fake } from "../../test/fixtures/irc-network.ts";

afterEach(endAll);

/** Ends a wait for what is not expected in this test; its message goes on waiting for its place. */
const slow = () => new Promise((resolve) => setImmediate(resolve));

describe("what is sent", () => {
  test("has the id that the server gives it, where it sends messages back", async () => {
    const server = await fake({ caps: ["echo-message", "message-tags"] });
    const account = drive(server.port);
    await account.is("ready");

    expect((await account.send("ada", "one")).messageId).toBe("echo-1");
    expect((await account.send("ada", "two\nthree")).messageId).toBe("echo-2");
    expect(account.inbox).toEqual([]);
  });

  test.each([
    ["401", "No such nick/channel", true],
    ["404", "Cannot send to nick/channel", true],
    ["442", "You're not on that channel", true],
    ["439", "Message target change too fast", false],
  ])("and refused with %s (%s) fails with the server's words; for ever: %s", async (numeric, words, isPermanent) => {
    const server = await fake({
      script: (line) => (line.startsWith("PRIVMSG ") ? [`:irc.fake.example ${numeric} bot ADA :${words}`] : undefined),
    });
    const account = drive(server.port);
    await account.is("ready");

    const refused = await account.send("ada", "hi").catch((error: unknown) => error);

    expect(refused).toMatchObject({ name: "SendRefusedError", isPermanent, message: expect.stringContaining(words) });
  });

  test("never holds a line or a request of its own", async () => {
    const server = await fake();
    const account = drive(server.port);
    await account.is("ready");

    await account.send("#room", "a\r\nQUIT :b\0c\u0001VERSION\u0001");

    expect(server.received.filter((line) => line.startsWith("PRIVMSG") || line.startsWith("QUIT"))).toEqual([
      "PRIVMSG #room :a",
      "PRIVMSG #room :QUIT :bcVERSION",
    ]);
    for (const to of ["a b", "a\r\nQUIT", ":a", ""])
      expect(await account.send(to, "x").catch((e: Error) => e.name)).toBe("SendRefusedError");
    expect(server.clients.size).toBe(1);
  });

  test("to an account goes to the nick that it wrote from last", async () => {
    const server = await fake({ caps: ["account-tag", "message-tags"] });
    const account = drive(server.port);
    await account.is("ready");
    server.send("@account=AdaL;msgid=m1 :ada_away!~a@host PRIVMSG bot :hi");
    const event = await eventually(() => account.inbox[0]);
    expect(event).toMatchObject({ id: "m1", sender: { id: "adal", name: "ada_away" }, peer: { id: "ada_away!~a@host" } });

    await account.send(event.peer.id, "hello");
    server.send(":ada_away!~a@host NICK :ada");
    server.send(":bob!~b@host PRIVMSG bot :after that");
    await eventually(() => account.inbox.length === 2);
    await account.send("adal", "again");

    expect(server.received.filter((line) => line.startsWith("PRIVMSG"))).toEqual(["PRIVMSG ada_away :hello", "PRIVMSG ada :again"]);
  });

  test("as an answer goes to who wrote, over a new link too: what it knows of accounts is gone then", async () => {
    const server = await fake({ caps: ["account-tag", "message-tags"] });
    const account = drive(server.port);
    await account.is("ready");
    server.send("@account=AdaL :Ada[1]!~a@Host PRIVMSG bot :hi");
    const { peer, sender } = await eventually(() => account.inbox[0]);
    expect(sender.id).toBe("adal");

    for (const client of server.clients) client.close();
    await eventually(() => account.states.filter(({ lifecycle }) => lifecycle === "ready").length === 2);
    await account.send(peer.id, "hello");

    expect(server.received.filter((line) => line.startsWith("PRIVMSG"))).toEqual(["PRIVMSG Ada[1] :hello"]);
  });

  test("leaves room for the account's own name: a server cuts what is longer than 512 bytes with it", async () => {
    const server = await fake();
    const account = drive(server.port, { rooms: ["#a"] });
    await account.is("ready");
    server.send(`:bot!~bot@fake.host CHGHOST ~bot ${"h".repeat(150)}`);
    await eventually(async () => {
      await account.send("#a", "x".repeat(350));
      return server.received.filter((line) => line.startsWith("PRIVMSG")).length >= 2;
    });

    const longest = Math.max(
      ...server.received
        .filter((line) => line.startsWith("PRIVMSG"))
        .slice(-2)
        .map((line) => line.length),
    );
    expect(`:bot!~bot@${"h".repeat(150)} `.length + longest).toBeLessThanOrEqual(510);
  });

  test("keeps to the flood limit: of what would take too long the beginning goes out, and says how much is left out", async () => {
    const server = await fake();
    // Five lines and nine more within nine tenths of the time that a message has: thirteen and the question behind them.
    const account = drive(server.port, { burstLines: 5, lineIntervalMs: 40 }, { sendMs: 400 });
    await account.is("ready");
    const text = Array.from({ length: 30 }, (_, i) => `${i} ${"x".repeat(300)}`).join("\n");

    // The lines that the account has just registered with have their places for a moment.
    const refusals: unknown[] = [];
    await eventually(() => account.send("ada", text).catch((error: unknown) => void refusals.push(error)));

    const lines = server.received.filter((line) => line.startsWith("PRIVMSG"));
    expect(lines.map((line) => line.slice("PRIVMSG ada :".length).split(" ")[0])).toEqual([...Array(12).keys()].map(String).concat("[…"));
    expect(lines.at(-1)).toBe("PRIVMSG ada :[… 18 lines left out]");
    expect(refusals.filter((error) => !(error instanceof NotDispatchedError))).toEqual([]);
  });

  test("and would have to wait too long behind others is not begun either, and says when", async () => {
    const server = await fake();
    const account = drive(server.port, { burstLines: 10, lineIntervalMs: 3_000 });
    await account.is("ready");

    const tries = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => Promise.race([account.send("ada", `${i}`), slow()])));

    const refused = tries.flatMap((one) => (one.status === "rejected" ? [one.reason as { name: string; retryAfterMs?: number }] : []));
    expect(refused.length).toBeGreaterThan(5);
    expect(new Set(refused.map(({ name }) => name))).toEqual(new Set(["NotDispatchedError"]));
    expect(Math.min(...refused.map(({ retryAfterMs = 0 }) => retryAfterMs))).toBeGreaterThan(40_000);
  });

  test("is not begun when the message before it has taken the time that it needs itself", async () => {
    let held: string | undefined;
    const server = await fake({
      script(line) {
        if (!line.startsWith("PING svc-") || held !== undefined || !server.received.includes("PRIVMSG ada :first")) return undefined;
        held = line.slice("PING ".length);
        return [];
      },
    });
    const account = drive(server.port, { burstLines: 1, lineIntervalMs: 100 }, { sendMs: 1_000 });
    await account.is("ready");
    const first = account.send("ada", "first");
    await eventually(() => held !== undefined);

    const second = account.send("ada", "1\n2\n3\n4\n5\n6").catch((error: Error) => error.name);
    await sleep(700);
    server.send(`PONG irc.fake.example :${held}`);

    await first;
    expect(await second).toBe("NotDispatchedError");
    expect(server.received.filter((line) => line.startsWith("PRIVMSG"))).toEqual(["PRIVMSG ada :first"]);
  });

  test("fails as not dispatched while there is no link", async () => {
    const server = await fake({ script: () => [] });
    const account = drive(server.port);

    expect(await account.send("ada", "hi").catch((error: Error) => error.name)).toBe("NotDispatchedError");
    expect(server.received.some((line) => line.startsWith("PRIVMSG"))).toBe(false);
  });

  test("and not confirmed in time is neither sent nor not: the link is given up", async () => {
    const server = await fake({
      script: (line) => (line.startsWith("PING svc-") && server.received.join().includes("PRIVMSG") ? [] : undefined),
    });
    const account = drive(server.port, {}, { confirmMs: 100 });
    await account.is("ready");

    const failed = await account.send("ada", "hi").catch((error: Error) => error);

    expect(failed).toMatchObject({ name: "Error", message: "the server did not confirm a message within 0.1 s" });
    expect((await account.is("recovering")).lastError).toContain("did not confirm");
  });
});
