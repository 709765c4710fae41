import { afterAll, beforeAll, expect } from "vitest";
import { channelConfig } from "../../test/fixtures/driven-account.ts";
import { endAfterEach, ownServer, PASSWORD, person } from "../../test/fixtures/xmpp-network.ts";
import { needs } from "../../test/servers/needs.ts";
import { type Prosody, startProsody } from "../../test/servers/prosody.ts";
import { type XmppUser, xml } from "../../test/servers/xmpp-user.ts";
import { createXmppChannel } from "./channel.ts";

const { describe, test } = needs("prosody");

const ROOMS = "rooms.localhost";
let server: Prosody;

endAfterEach();
beforeAll(async () => {
  server = await startProsody();
  await server.register(PASSWORD, "ada", "bot");
});
afterAll(() => server?.close());

/** Probe and audit of an account; of a finding that is fine the words are left out. */
async function look(port: number, section: object = {}) {
  const channel = createXmppChannel();
  const own = { jid: "bot@localhost", password: PASSWORD, host: "127.0.0.1", port, tls: { enabled: false } };
  const account = channel.config.resolve(channelConfig("xmpp", { ...own, ...section }), "default");
  const signal = AbortSignal.timeout(20_000);
  const [probe, audit = []] = await Promise.all([channel.probe?.(account, signal), channel.audit?.(account, signal)]);
  return { probe, findings: Object.fromEntries(audit.map(({ id, ok, message }) => [id, ok || message])) };
}

/** Makes a room with these settings. */
async function makeRoom(owner: XmppUser, name: string, settings: Record<string, string> = {}): Promise<string> {
  const room = `${name}@${ROOMS}`;
  await owner.join(room);
  const field = (name: string, value: string) => xml("field", { var: name }, xml("value", {}, value));
  const fields = Object.entries({ FORM_TYPE: "http://jabber.org/protocol/muc#roomconfig", ...settings }).map(([key, value]) =>
    field(key, value),
  );
  const form = xml("x", { xmlns: "jabber:x:data", type: "submit" }, ...fields);
  await owner.send(
    xml("iq", { type: "set", to: room, id: `make-${name}` }, xml("query", { xmlns: "http://jabber.org/protocol/muc#owner" }, form)),
  );
  await owner.sees((stanza) => stanza.is("iq") && stanza.attrs.id === `make-${name}` && stanza.attrs.type === "result");
  return room;
}

describe("an audit of an account", () => {
  test("says what is fine: the account, what the server keeps, and rooms that it can join or make", async () => {
    const ada = await person(server, "ada");
    const open = await makeRoom(ada, "kitchen");

    const { probe, findings } = await look(server.port, { rooms: [open, `later@${ROOMS}`] });

    expect(probe).toEqual({ ok: true, ms: expect.any(Number), identity: "bot@localhost" });
    expect(findings).toEqual({
      tls: true,
      login: true,
      "stream management": true,
      "offline messages": true,
      [`room ${open}`]: true,
      [`room later@${ROOMS}`]: true,
    });
  });

  test("names rooms that it cannot join, and those that hide who is in them", async () => {
    const ada = await person(server, "ada");
    const members = await makeRoom(ada, "members", { "muc#roomconfig_membersonly": "1" });
    const locked = await makeRoom(ada, "locked", { "muc#roomconfig_roomsecret": "sesame" });
    const hidden = await makeRoom(ada, "hidden", { "muc#roomconfig_whois": "moderators" });

    const { findings } = await look(server.port, { rooms: [members, locked, hidden] });

    expect(findings).toMatchObject({
      [`room ${members}`]: expect.stringContaining("its owner has to make the account one"),
      [`room ${locked}`]: expect.stringContaining("the config has none for it"),
      [`room ${hidden}`]: expect.stringContaining("addresses to its moderators only"),
    });
    expect((await look(server.port, { rooms: [{ jid: locked, password: "sesame" }] })).findings[`room ${locked}`]).toBe(true);
  });

  test("names what a server does not keep", async () => {
    const own = await ownServer({ without: ["smacks", "offline"] }, "bot");
    expect((await look(own.port)).findings).toMatchObject({
      login: true,
      "stream management": expect.stringContaining("XEP-0198"),
      "offline messages": expect.stringContaining("while the account is away"),
    });
  });

  test("says that the server refuses the account, or is not there, and shows no password", async () => {
    const wrong = await look(server.port, { password: "pw-wrong-31" });
    expect(wrong.probe).toMatchObject({ ok: false, error: expect.any(String) });
    expect(wrong.findings).toEqual({ tls: true, login: wrong.probe?.error });
    expect(JSON.stringify(wrong)).not.toContain("pw-wrong-31");

    const away = await look(1);
    expect(away.findings.login).toMatch(/^no link: /);
  });

  test("says that a link that leaves this machine is not encrypted", async () => {
    const { findings } = await look(1, { host: "0.0.0.0" });
    expect(findings.tls).toContain("every message can be read on the way");
  });
});
