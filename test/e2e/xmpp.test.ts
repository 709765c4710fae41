import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { needs } from "../servers/needs.ts";
import { type Prosody, startProsody } from "../servers/prosody.ts";
import { connectXmppUser, type XmppUser } from "../servers/xmpp-user.ts";
import { aroundMessages, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command } from "./_command.ts";
import { echoModel } from "./_echo-model.ts";
import type { Home, Running } from "./_process.ts";

const { describe, test } = needs("prosody");

const PASSWORD = "pw-0c6e55d1f2";
const AGENT = "agent@localhost";
const ROOM = "kitchen@rooms.localhost";

let server: Prosody;
let home: Home;
let gateway: Running;
let ada: XmppUser;
let bob: XmppUser;

/** Answers of the agent to somebody, or in the room, that hold a word. */
const answers = (to: XmppUser, word: string, from = AGENT) =>
  to.texts(from).filter((text) => text.includes("You said: ") && text.includes(word));
const isAnswered = (to: XmppUser, word: string, from = AGENT) => eventually(() => answers(to, word, from).length > 0, 60_000);

beforeAll(async () => {
  server = await startProsody();
  await server.register(PASSWORD, "agent", "ada", "bob");
  home = await freshHome();
  home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
  await configured(home, {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
    messages: { inbound: { debounceMs: 0 } },
    plugins: { load: { paths: ["./echo.ts"] }, ...aroundMessages("channel-xmpp", "echo") },
    channels: {
      xmpp: {
        jid: AGENT,
        password: PASSWORD,
        host: "127.0.0.1",
        port: server.port,
        tls: { enabled: false },
        rooms: [ROOM],
        groups: { [ROOM]: {} },
        allowFrom: ["ada@localhost", "bob@localhost"],
      },
    },
  });
  await writeFile(join(home.stateDir, "echo.ts"), echoModel);
  gateway = await gatewayIn(home);
  ada = await connectXmppUser({ port: server.port, name: "ada", password: PASSWORD });
  bob = await connectXmppUser({ port: server.port, name: "bob", password: PASSWORD });
});
afterAll(async () => {
  await ada?.close();
  await bob?.close();
  await stopAll();
  await server?.close();
});

describe("two people on XMPP", () => {
  test("are answered where they wrote: to themselves, and in a room when the agent is named", async () => {
    await ada.say(AGENT, "word-one");
    await isAnswered(ada, "word-one");
    expect(ada.stanzas.some((stanza) => stanza.attrs.from?.startsWith(AGENT) && stanza.getChild("composing"))).toBe(true);
    await bob.join(ROOM);

    await bob.say(ROOM, "nobody asked the reagent", "groupchat");
    await bob.say(ROOM, "Agent: word-two", "groupchat");

    await isAnswered(bob, "word-two", ROOM);
    expect(bob.texts(ROOM).filter((text) => text.includes("You said"))).toHaveLength(1);
    expect(answers(ada, "word-two")).toEqual([]);
  });

  test("are answered once for what the server kept while the gateway was killed, and for what it was killed with", async () => {
    // In its hands at the kill, or still with the server: which of them it is, nobody knows.
    void ada.say(AGENT, "word-in-flight");
    await gateway.kill("SIGKILL");
    await ada.say(AGENT, "word-away-ada");
    await bob.say(AGENT, "word-away-bob");
    gateway = await gatewayIn(home);

    for (const word of ["word-in-flight", "word-away-ada"]) await isAnswered(ada, word);
    await isAnswered(bob, "word-away-bob");
    // A kill before the server's word is stored may send an answer twice; this one comes after it.
    const at = { SVC_GATEWAY_PORT: String(gateway.port) };
    const isSettled = async () => (await command(home, ["channels", "status", "--json"], at)).stdout.includes('"queueDepth": 0');
    await eventually(isSettled);

    await gateway.kill("SIGKILL");
    gateway = await gatewayIn(home);
    await ada.say(AGENT, "word-last");
    await isAnswered(ada, "word-last");
    for (const word of ["word-in-flight", "word-away-ada", "word-last"]) expect(answers(ada, word), word).toHaveLength(1);
    expect(answers(bob, "word-away-bob")).toHaveLength(1);
    const { stdout } = await command(home, ["channels", "status", "--probe"], { SVC_GATEWAY_PORT: String(gateway.port) });
    expect(stdout).toMatch(/xmpp\s+default\s+ready\s+agent.*ok \(\d+ ms\)/);
  });
});
