import { describe, expect, test } from "vitest";
import { readQr } from "../../test/fixtures/qr-reader.ts";

const page = (name: string) => import(new URL(`./public/core/${name}`, import.meta.url).href);
const { qrOf } = await page("qr.js");
const { inviteAddress, inviteLink, noInviteReason, timeLeft } = await page("invite-facts.js");
const { accountsNeeding, needWords, partsNeeding, restartReasons } = await page("parts.js");
const setup = await page("channel-setup-facts.js");
const { installCommand, placeOf, sourceOf } = await page("plugin-facts.js");
const { tokenProblem } = await page("webhook-facts.js");

describe("a QR code", () => {
  test("says its text to whoever reads it, however long that is", () => {
    const texts = ["x", "talk://join?é", `https://gateway.example.ts.net/ui/#invite=${"A".repeat(43)}`, "y".repeat(120), "z".repeat(200)];
    for (const text of texts) expect(readQr(qrOf(text).path)).toBe(text);
  });

  test("has a light border, and there is none for a text that no code can hold", () => {
    const { size, path } = qrOf("x");
    expect(size).toBe(21 + 8);
    expect(path).toMatch(/^M4 4h1v1h-1z/);
    expect(qrOf("x".repeat(4_000))).toBeUndefined();
  });
});

describe("the address that a phone opens", () => {
  test("is one with HTTPS, or of this machine itself, without anything behind its path", () => {
    for (const [written, address] of [
      [" https://gw.example.net ", "https://gw.example.net/"],
      ["https://gw.example.net/ui?x=1#/chat", "https://gw.example.net/ui/"],
      ["https://name:pass@gw.example.net:8443/", "https://gw.example.net:8443/"],
      ["http://127.0.0.1:18789/", "http://127.0.0.1:18789/"],
      ["http://[::1]:1/ui", "http://[::1]:1/ui/"],
    ])
      expect(inviteAddress(written)).toEqual({ address });
    for (const [written, problem] of [
      ["", /Write the address/],
      ["gw.example.net", /no web address/],
      ["javascript:alert(1)", /no web address/],
      ["http://192.168.1.5:18789/", /plain HTTP/],
    ] as const)
      expect(inviteAddress(written).problem).toMatch(problem);
  });

  test("carries the invitation behind the hash, which no server is sent", () => {
    expect(inviteLink("https://gw/ui/", "tok-1")).toBe("https://gw/ui/#invite=tok-1");
    expect(new URL(inviteLink("https://gw/ui/", "tok-1")).search).toBe("");
  });

  test("is not asked for where a code would open nothing", () => {
    expect(["token", "password", undefined].map(noInviteReason)).toEqual([undefined, undefined, undefined]);
    for (const mode of ["none", "trusted-proxy"]) expect(noInviteReason(mode)).toMatch(/\.$/);
  });
});

test("the time that is left is told in minutes and seconds, and never below nothing", () => {
  expect([300_000, 61_000, 59_001, 1, 0, -5_000].map(timeLeft)).toEqual(["5:00", "1:01", "0:59", "0:00", "0:00", "0:00"]);
});

describe("what needs somebody", () => {
  const account = (change: object) => ({ accountId: "a", enabled: true, configured: true, lifecycle: "ready", ...change });
  const health = (accounts: object[], more: object = {}) => ({
    ok: true,
    channels: { talk: { accounts } },
    channelLabels: { talk: "Talk" },
    ...more,
  });

  test("are accounts that are blocked or lack something, and none that is off, stopped or on its way back", () => {
    const all = [
      ...[
        { accountId: "b", lifecycle: "blocked" },
        { accountId: "c", configured: false, lifecycle: "stopped" },
        { enabled: false, lifecycle: "blocked" },
      ],
      ...[{ lifecycle: "recovering" }, { lifecycle: "stopped" }, {}],
    ];
    const found = accountsNeeding(health(all.map(account)));
    expect(found.map((one: { label: string; account: { accountId: string } }) => `${one.label} ${one.account.accountId}`)).toEqual([
      "Talk b",
      "Talk c",
    ]);
    expect([accountsNeeding(undefined), accountsNeeding({ ok: true })]).toEqual([[], []]);
  });

  test("is a gateway once: not for accounts that are told one by one", () => {
    const parts = [{ id: "gateway" }, { id: "memory" }];
    const blocked = [account({ lifecycle: "blocked" })];
    const ids = (report: object) => partsNeeding(parts, report).map(({ id }: { id: string }) => id);
    expect(ids(health(blocked, { problems: { channels: "x" } }))).toEqual(["memory"]);
    expect(ids(health(blocked, { problems: { channels: "x", store: "y" } }))).toEqual(["gateway", "memory"]);
    expect(ids(health(blocked, { ok: false, problems: { channels: "x" } }))).toEqual(["gateway", "memory"]);
    expect(ids(health([], { problems: { channels: "irc: its plugin is off" } }))).toEqual(["gateway", "memory"]);
  });

  test("is told in sentences, with everything that waits", () => {
    const none = { parts: 0, approvals: 0, devices: 0, people: 0, accounts: 0, restarts: 0 };
    expect(needWords(none)).toBe("Everything works.");
    expect(needWords({ ...none, parts: 1, people: 2, accounts: 1, restarts: 1 })).toBe(
      "1 part needs you. 2 people wait to be let in. 1 channel account needs you. A change waits for a restart.",
    );
    expect(needWords({ ...none, approvals: 2, devices: 1, people: 1 })).toBe(
      "2 requests wait for your approval. 1 device asks to be paired. 1 person waits to be let in.",
    );
  });

  test("is a restart with the paths and reasons that wait for it", () => {
    expect(restartReasons({ configReload: { pendingRestart: ["gateway.port"], restart: ["an update"] } })).toEqual([
      "gateway.port",
      "an update",
    ]);
    expect(restartReasons(undefined)).toEqual([]);
  });
});

describe("setting a channel up", () => {
  const schema = {
    properties: {
      channels: {
        properties: {
          defaults: {},
          irc: {
            required: ["host"],
            properties: {
              dmPolicy: { enum: ["open"] },
              name: { type: "string" },
              nick: { type: "string", description: "Nick of the agent" },
              host: { type: "string", description: "Name of the server" },
              port: { type: "integer", minimum: 1, maximum: 65_535, description: "Port; unset: 6697" },
              tls: { type: "object", properties: { enabled: { type: "boolean", default: true } } },
              sasl: { type: "object", properties: { mechanism: { enum: ["PLAIN", "EXTERNAL"] }, password: { type: "string" } } },
              rooms: { type: "array", items: { anyOf: [{ type: "string" }, { type: "object" }] } },
              maps: { type: "object" },
            },
          },
          talk: { properties: { token: { type: "string" } } },
        },
        additionalProperties: { properties: { dmPolicy: {}, accounts: {} } },
      },
    },
  };
  const hints = { "channels.irc.sasl.password": { sensitive: true }, "channels.talk.token": { sensitive: true } };
  const fields = setup.fieldsOf(schema, hints, "irc");
  const kinds = (list: Array<{ name: string; kind: string }>) => list.map(({ name, kind }) => `${name} ${kind}`);

  test("offers the channels that are not there yet, and asks for what is their own: the necessary first, the rare last", () => {
    expect(setup.channelsToSetUp(schema, ["talk"])).toEqual(["irc"]);
    expect(kinds(fields)).toEqual([
      ...["host text", "nick text", "rooms list"],
      ...["name text", "port number", "tls.enabled switch", "sasl.mechanism choice", "sasl.password secret"],
    ]);
    expect(kinds(setup.fieldsOf(schema, hints, "talk"))).toEqual(["token secret"]);
    expect(setup.fieldsOf(schema, hints, "constructor")).toEqual([]);
  });

  test("writes what was filled in and nothing else", () => {
    const values = {
      host: " irc.example ",
      port: "6697",
      rooms: "#a, #b\n#c",
      "tls.enabled": "false",
      "sasl.password": " p w ",
      nick: "  ",
    };
    expect(setup.sectionOf(fields, values)).toEqual({
      ...{ host: "irc.example", port: 6697, rooms: ["#a", "#b", "#c"], tls: { enabled: false }, sasl: { password: " p w " } },
    });
    expect(setup.sectionOf(fields, {})).toEqual({});
  });

  test("says at each field what is wrong with it", () => {
    expect(setup.problemsOf(fields, { port: "many" })).toEqual({ host: "It is needed.", port: "Expected a number." });
    expect(setup.problemsOf(fields, { host: "h", port: "70000" })).toEqual({ port: "Expected a number from 1 to 65535." });
    expect(setup.problemsOf(fields, { host: "h" })).toEqual({});
  });

  test("shows the lines for whoever writes the file, without a value", () => {
    expect(setup.snippetOf("irc", fields)).toBe(
      [
        ...["channels: {", "  irc: {", '    host: "…", // Name of the server', '    nick: "…", // Nick of the agent'],
        ...['    rooms: ["…"],', "  },", "}"],
      ].join("\n"),
    );
  });
});

describe("plugins", () => {
  const plugin = (reason: string) => ({ runtime: { reason } });

  test("tell the place of their fault, and none where none is named", () => {
    expect(placeOf(plugin("src/index.ts:4:10: Unexpected token"))).toBe("src/index.ts:4:10");
    expect(placeOf(plugin("index.mjs: it broke"))).toBe("index.mjs");
    expect(["it blocked the event loop", "http://x/a.ts: no", "a b.ts: no"].map((text) => placeOf(plugin(text)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(placeOf({ runtime: {} })).toBeUndefined();
  });

  test("are installed by the command for what was written", () => {
    for (const [written, command] of [
      ["weather", "svc plugins install npm:weather"],
      [" npm:@me/weather@^1.2.0 ", "svc plugins install npm:@me/weather@^1.2.0"],
      ["@me/weather", "svc plugins install npm:@me/weather"],
      ["./plugins/mine", "svc plugins install ./plugins/mine"],
      ["weather-1.0.0.tgz", "svc plugins install weather-1.0.0.tgz"],
      ["~/my plugins/it's", "svc plugins install ~/'my plugins/it'\\''s'"],
      ["/srv/$(id)", "svc plugins install '/srv/$(id)'"],
    ])
      expect(installCommand(sourceOf(written) as string)).toBe(command);
    for (const written of ["", "https://example.org/p.git", "git+ssh:host", "a\nb"]) expect(sourceOf(written)).toBeUndefined();
  });
});

test("a token for senders is neither missing nor short, and fits into a header", () => {
  expect(["", "short", "with a space in the middle", "x".repeat(16)].map((token) => tokenProblem(token) === undefined)).toEqual([
    false,
    false,
    false,
    true,
  ]);
});
