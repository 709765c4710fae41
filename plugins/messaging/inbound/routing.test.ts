import type { InboundEvent, SvcConfig } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { boundAgent } from "./bindings.ts";
import { keyPart, sessionKeyOf } from "./session-key.ts";

const direct: InboundEvent = { id: "1", chatType: "direct", peer: { id: "Ada" }, sender: { id: "Ada!a@host", name: "Ada" }, text: "hello" };
const room: InboundEvent = { ...direct, chatType: "channel", peer: { id: "#Kitchen" } };
const place = { agentId: "main", channel: "irc", accountId: "Work", isCaseSensitive: false };

type Session = Pick<SvcConfig["session"], "dmScope" | "identityLinks">;
const key = (event: InboundEvent, rules: Partial<Session> = {}, changes: Partial<typeof place> = {}) =>
  sessionKeyOf(event, { ...place, ...changes }, { dmScope: "main", identityLinks: {}, ...rules });

describe("the session of a message", () => {
  test.each([
    ["main", "agent:main:main"],
    ["per-peer", "agent:main:direct:ada!a@host"],
    ["per-channel-peer", "agent:main:irc:direct:ada!a@host"],
    ["per-account-channel-peer", "agent:main:irc:work:direct:ada!a@host"],
  ] as const)("session.dmScope %s", (dmScope, expected) => {
    expect(key(direct, { dmScope })).toBe(expected);
  });

  test("of a group is its own, whatever the scope of direct messages", () => {
    expect(key(room)).toBe("agent:main:irc:channel:#kitchen");
    expect(key({ ...room, chatType: "group", peer: { id: "a:b%3A" } })).toBe("agent:main:irc:group:a%3Ab%253a");
  });

  test("of a thread lies below that of its conversation", () => {
    expect(key({ ...room, threadId: "T:1" })).toBe("agent:main:irc:channel:#kitchen:thread:T%3A1");
    expect(key({ ...direct, threadId: "9" })).toBe("agent:main:main:thread:9");
    expect(key({ ...room, threadId: "t7", isTopic: true })).toBe("agent:main:irc:channel:#kitchen:topic:t7");
  });

  test("session.identityLinks joins the ids of one person, in the three scopes that name one", () => {
    const identityLinks = { alice: ["mail:a@x", "irc:ADA!a@host"] };
    expect(key(direct, { identityLinks })).toBe("agent:main:main");
    expect(key(direct, { identityLinks, dmScope: "per-peer" })).toBe("agent:main:direct:alice");
    expect(key(direct, { identityLinks, dmScope: "per-channel-peer" })).toBe("agent:main:irc:direct:alice");
    expect(key(direct, { identityLinks, dmScope: "per-account-channel-peer" })).toBe("agent:main:irc:work:direct:alice");
    expect(key(direct, { identityLinks, dmScope: "per-peer" }, { isCaseSensitive: true })).toBe("agent:main:direct:Ada!a@host");
    expect(key(room, { identityLinks, dmScope: "per-peer" })).toBe("agent:main:irc:channel:#kitchen");
  });

  test("goes by who wrote, not by the name of the conversation: who takes on a name gets no talk of the one before", () => {
    const other = { ...direct, sender: { id: "Ada!eve@elsewhere" } };
    expect(key(other, { dmScope: "per-peer" })).not.toBe(key(direct, { dmScope: "per-peer" }));
  });

  test("stays below the limit of keys, and two long ids are two", () => {
    const long = (end: string) => key({ ...room, peer: { id: `${"x".repeat(490)}${end}` }, threadId: "t".repeat(500) });
    expect(long("a").length).toBeLessThan(512);
    expect(long("a")).not.toBe(long("b"));
    expect(keyPart("x".repeat(120), true)).toBe("x".repeat(120));
  });
});

describe("bindings", () => {
  type Match = SvcConfig["bindings"][number]["match"];
  const bound = (event: InboundEvent, ...matches: Array<Omit<Match, "channel">>) =>
    boundAgent(
      event,
      place,
      matches.map((match, i) => ({ agentId: `a${i}`, match: { channel: "irc", ...match } })),
    );
  const threaded: InboundEvent = { ...room, parentPeerId: "#House", teamId: "T1", sender: { ...room.sender, roles: ["cook", "guest"] } };

  /** Most exact first. */
  const ranks: Array<Omit<Match, "channel">> = [
    { peer: { kind: "channel", id: "#KITCHEN" } },
    { parentPeer: { kind: "channel", id: "#house" } },
    { peer: { kind: "channel", id: "*" } },
    { teamId: "T1", roles: ["boss", "cook"] },
    { teamId: "T1" },
    { accountId: "Work" },
    {},
  ];

  test.each(ranks.map((match, i) => [i, match] as const))(
    "rank %i goes before all below it, wherever it stands in the list",
    (i, match) => {
      const below = ranks.slice(i + 1);
      expect(bound(threaded, ...below, match)).toBe(`a${below.length}`);
    },
  );

  test("of equal rank the first in the list wins", () => {
    expect(bound(threaded, { teamId: "T1" }, { teamId: "T1" })).toBe("a0");
  });

  test.each<[string, Omit<Match, "channel">]>([
    ["another account", { accountId: "home" }],
    ["another kind of chat", { peer: { kind: "group", id: "#kitchen" } }],
    ["another team", { teamId: "T2" }],
    ["none of the roles", { roles: ["boss"] }],
    ["one field of several", { peer: { kind: "channel", id: "#kitchen" }, accountId: "home" }],
  ])("%s does not match", (_name, match) => {
    expect(bound(threaded, match)).toBeUndefined();
  });

  test("another channel does not match", () => {
    expect(boundAgent(direct, place, [{ agentId: "a", match: { channel: "mail" } }])).toBeUndefined();
  });

  test("a direct message is of its sender", () => {
    expect(bound(direct, { peer: { kind: "direct", id: "ada!a@host" } })).toBe("a0");
    expect(bound(direct, { peer: { kind: "direct", id: "ada" } })).toBeUndefined();
  });
});
