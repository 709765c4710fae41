import type { SvcConfig } from "svc/sdk";
import { expect, test } from "vitest";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { inspectAccount, listAccounts, resolveAccount } from "./accounts.ts";
import { answerAddress, destinationOf, normalizeAddress } from "./address.ts";
import { createMqttChannel } from "./channel.ts";
import { filterOf, matchTopic, overlap } from "./subscriptions.ts";

const config = (section: object) => ({ channels: { mqtt: section } }) as unknown as SvcConfig;
const topic = (name: string, answerTopic?: string) => ({ topic: name, ...(answerTopic === undefined ? {} : { answerTopic }) });
const section = { host: "broker", clientId: "bot", subscriptions: [topic("svc/{sender}/in", "svc/{sender}/out")] };

test.each([
  ["svc/{sender}/in", "svc/ada/in", { sender: "ada" }],
  ["rooms/{group}/{sender}", "rooms/kitchen/ada", { group: "kitchen", sender: "ada" }],
  ["svc/{sender}/#", "svc/ada/a/b", { sender: "ada" }],
  ["svc/{sender}/#", "svc/ada", { sender: "ada" }],
  ["+/in", "svc/in", {}],
  ["svc/{sender}/in", "svc/ada/out", undefined],
  ["svc/{sender}/in", "svc/ada/in/more", undefined],
  ["svc/{sender}/in", "svc", undefined],
])("the pattern %s reads %s", (pattern, name, names) => {
  expect(matchTopic(pattern, name)).toEqual(names);
});

test.each([
  ["a/+", "a/b", true],
  ["a/#", "a", true],
  ["a/#", "a/b/c", true],
  ["+/b", "a/+", true],
  ["a/b", "a/c", false],
  ["a/b", "a/b/c", false],
])("%s and %s overlap: %s", (one, other, isBoth) => {
  expect([overlap(one, other), overlap(other, one)]).toEqual([isBoth, isBoth]);
});

test.each(["", "$SYS/x", "a/b#", "a/#/b", "a+/b", "{sender}/{sender}", "a/{who}", "a/{sender}x"])(
  "%j is no topic to subscribe to",
  (pattern) => {
    expect(() => filterOf(pattern)).toThrow(/the topic/);
  },
);

test("an address has one form, with the name of the channel before it or not", () => {
  for (const address of ["ada", "group:kitchen", "topic:a/b", "topic:a/b#AAEC_w", "topic:a b"]) {
    expect(normalizeAddress(address)).toBe(address);
    expect(normalizeAddress(`mqtt:${address}`)).toBe(address);
  }
  for (const none of [
    "",
    "a/b",
    "a+",
    "group:",
    "group:a/b",
    "topic:",
    "topic:a/#",
    "topic:a/+",
    "topic:$SYS",
    "topic:a#é",
    "topic:a\nb",
    `topic:${"x".repeat(500)}`,
  ])
    expect(normalizeAddress(none), none).toBeNull();
});

test("answers go to the topic of the config, and a sender chooses only among those that it allows", () => {
  const { subscriptions, responseTopics } = resolveAccount(
    config({
      ...section,
      subscriptions: [topic("svc/{sender}/in", "svc/{sender}/out"), topic("old/{sender}", "old/{sender}/out"), topic("quiet/{sender}")],
      responseTopics: ["replies/+"],
    }),
    "default",
  );
  const rules = { subscriptions, responseTopics };
  const answer = (i: number, more: object = {}) =>
    answerAddress({ subscription: subscriptions[i] as never, names: { sender: "ada" }, ...more }, rules);
  expect(answer(0)).toBe("ada");
  expect(answer(1)).toBe("topic:old/ada/out");
  expect(answer(2)).toBeUndefined();
  expect(answer(0, { responseTopic: "replies/7", correlationData: Buffer.from([0, 255]) })).toBe("topic:replies/7#AP8");
  expect(answer(0, { responseTopic: "home/door" })).toBe("ada");
  expect(answer(0, { responseTopic: "replies/7", correlationData: Buffer.alloc(400) })).toBeUndefined();
  expect(destinationOf("ada", rules)).toMatchObject({ topic: "svc/ada/out" });
  expect(destinationOf("topic:old/ada/out", rules)).toMatchObject({ topic: "old/ada/out" });
  expect(destinationOf("topic:replies/7#AP8", rules)).toMatchObject({ topic: "replies/7", correlationData: Buffer.from([0, 255]) });
  for (const to of ["topic:home/door", "group:kitchen", "a/b"]) expect(destinationOf(to, rules), to).toBeUndefined();
});

test("an account has the keys of the section, and its own over them", () => {
  const two = config({ ...section, tls: { caPath: "/a.pem" }, accounts: { second: { clientId: "bot2", tls: { serverName: "b" } } } });
  expect(listAccounts(two)).toEqual(["default", "second"]);
  expect(resolveAccount(two, "second")).toMatchObject({ clientId: "bot2", port: 8883, tls: { caPath: "/a.pem", serverName: "b" } });
  expect(resolveAccount(config({ ...section, tls: { enabled: false } }), "default")).toMatchObject({ port: 1883, maxPacketBytes: 262_144 });
  expect(inspectAccount(config({ host: "broker" }), "default").missing).toEqual(["clientId", "subscriptions"]);
});

test("two configs with one client id at one broker name one account, whatever else they hold", () => {
  const channel = createMqttChannel({ load: () => Promise.reject(new Error("no link is made")), kv: memoryKv() });
  const known = (more: object) => channel.config.identity?.(resolveAccount(config({ ...section, ...more }), "default"));
  const others = [{ host: "elsewhere" }, { port: 1884 }, { clientId: "bot2" }];
  expect(known({})).toBe(known({ username: "u", password: "p", subscriptions: [topic("a/{sender}", "b/{sender}")] }));
  expect(new Set([known({}), ...others.map(known)]).size).toBe(4);
  expect(known({ username: "u", password: "secret-value" })).not.toContain("secret-value");
});

test.each([
  [{ subscriptions: [topic("a/{sender}")] }, "has no answers: expected answerTopic, or responseTopics"],
  [{ subscriptions: [topic("a/{sender}", "b"), topic("a/+", "c")] }, 'the topics "a/{sender}" and "a/+" overlap'],
  [{ subscriptions: [topic("a/{sender}", "b/{group}")] }, "names {group}, which"],
  [{ subscriptions: [topic("a/{sender}", "b/#")] }, "is no topic: expected one without wildcards"],
  [{ subscriptions: [topic("a/b#", "b")] }, "has a wildcard or a name inside a level"],
  [{ status: { topic: "a/+" } }, "status.topic"],
  [{ password: "secret-value" }, "expected username beside password"],
  [{ tls: { certPath: "/c.pem" } }, "tls.certPath and tls.keyPath together"],
])("a section that cannot work is refused: %j", (more, words) => {
  const resolve = () => resolveAccount(config({ ...section, ...more }), "default");
  expect(resolve).toThrow(words);
  expect(resolve).not.toThrow("secret-value");
});
