import { describe, expect, test } from "vitest";
import { caseMappingOf, foldName, isNick, isRoom, normalizeTarget, senderId } from "./names.ts";

test.each([
  ["rfc1459", "Ada[\\]^{|}~", "ada{|}~{|}~"],
  ["strict-rfc1459", "Ada[\\]^{|}~", "ada{|}^{|}~"],
  ["ascii", "Ada[\\]^{|}~Ü", "ada[\\]^{|}~Ü"],
] as const)("the mapping %s makes one name of what the server takes for one", (mapping, name, folded) => {
  expect(foldName(name, mapping)).toBe(folded);
});

test("a server that names no mapping has the one of the RFC, and one that nobody defines folds letters only", () => {
  expect([undefined, "ascii", "rfc1459", "strict-rfc1459", "rfc7613"].map(caseMappingOf)).toEqual([
    "rfc1459",
    "ascii",
    "rfc1459",
    "strict-rfc1459",
    "ascii",
  ]);
});

describe("the id of a sender", () => {
  const source = { nick: "Ada[1]", user: "~Ada", host: "Host.Example" };

  test("is the services account where the server names one, whatever the nick", () => {
    expect(senderId(source, "AdaL", "rfc1459")).toBe("adal");
  });

  test("is who the server says it is otherwise, never a nick alone", () => {
    expect(senderId(source, undefined, "rfc1459")).toBe("ada{1}!~ada@host.example");
    expect(senderId(source, undefined, "ascii")).toBe("ada[1]!~ada@host.example");
  });
});

describe("a target", () => {
  test.each([
    ["#Room", "#room"],
    ["irc:#room", "#room"],
    [" IRC:Ada ", "ada"],
    ["Ada!~a@Host", "ada!~a@host"],
    ["#ünder", "#ünder"],
    ["#Ünder", "#Ünder"],
    ["#why?*", "#why?*"],
    ["&local", "&local"],
  ])("%s is %s", (raw, target) => {
    expect(normalizeTarget(raw)).toBe(target);
    expect(normalizeTarget(`irc:${target}`)).toBe(target);
  });

  test.each([
    "",
    "#",
    "two words",
    "a,b",
    "$*.net",
    "*",
    "a*",
    "#a\r\nQUIT",
    ":a",
    "@#room",
    "a!b",
    "!u@h",
    "a!@h",
    "a@h",
    "tele:gram",
    "x".repeat(201),
    "a\u2028b",
  ])("%j is none", (raw) => {
    expect(normalizeTarget(raw)).toBeNull();
  });
});

test("a nick is one word that no server takes for something else", () => {
  expect(["svc", "[bot]", "bot-1", "ünder"].filter((name) => !isNick(name))).toEqual([]);
  expect(["", "1bot", "-bot", "#bot", "a b", "a!b", "a@b", "a:b", "$a", "a,b", "a\nb"].filter(isNick)).toEqual([]);
  expect([isRoom("#a"), isRoom("#"), isRoom("a"), isRoom("~a", "~")]).toEqual([true, false, false, true]);
});
