import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatLine, formatSource, parseLine, parseSource } from "./line.ts";

describe("a line is read", () => {
  test.each([
    ["PING :token", { command: "PING", params: ["token"] }],
    [
      ":irc.example.net 001 bot :Welcome to IRC",
      { source: { nick: "irc.example.net" }, command: "001", params: ["bot", "Welcome to IRC"] },
    ],
    [
      ":ada!~a@host PRIVMSG  #room   :a : b",
      { source: { nick: "ada", user: "~a", host: "host" }, command: "PRIVMSG", params: ["#room", "a : b"] },
    ],
    ["join #a", { command: "JOIN", params: ["#a"] }],
    [":ada!~a@host QUIT :", { source: { nick: "ada", user: "~a", host: "host" }, command: "QUIT", params: [""] }],
  ])("%s", (text, expected) => {
    const { tags, ...line } = parseLine(text) ?? { tags: new Map() };
    expect(line).toEqual(expected);
    expect(tags.size).toBe(0);
  });

  test("with its tags, whose values are unescaped", () => {
    const line = parseLine("@msgid=a\\sb\\:\\\\;time=2026-01-02T03:04:05.000Z;bot;+x=\\q\\ :ada PRIVMSG bot :hi");
    expect(Object.fromEntries(line?.tags ?? [])).toEqual({ msgid: "a b;\\", time: "2026-01-02T03:04:05.000Z", bot: "", "+x": "q" });
    expect(line?.params).toEqual(["bot", "hi"]);
  });

  test.each(["", " ", ":only.a.source", "@only=tags"])("as nothing when it has no command: %j", (text) => {
    expect(parseLine(text)).toBeUndefined();
  });

  test("whatever it holds, without a throw", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => void parseLine(text)));
  });
});

test.each([
  ["ada", { nick: "ada" }],
  ["ada!u@h", { nick: "ada", user: "u", host: "h" }],
  ["ada!u@x@h", { nick: "ada", user: "u@x", host: "h" }],
  ["ada@h", { nick: "ada", host: "h" }],
])("the source %s is told apart and put together again", (text, source) => {
  expect(parseSource(text)).toEqual(source);
  expect(formatSource(source)).toBe(text);
});

describe("a line is written", () => {
  test.each([
    [["PRIVMSG", "#room", "hi"], "PRIVMSG #room :hi"],
    [["PRIVMSG", "#room", ":-) you"], "PRIVMSG #room ::-) you"],
    [["NICK", "bot"], "NICK bot"],
    [["USER", "svc", "0", "*", ""], "USER svc 0 * :"],
    [["PASS", "two words"], "PASS :two words"],
  ])("%j", ([command = "", ...params], text) => {
    expect(formatLine(command, ...params)).toBe(text);
  });

  test.each([
    ["a line feed", ["#room", "a\nQUIT"]],
    ["a carriage return", ["#room", "a\rQUIT"]],
    ["NUL", ["#room", "a\0b"]],
    ["a target with a blank", ["#room key", "a"]],
    ["an empty target", ["", "a"]],
    ["a target that begins with a colon", [":a", "b"]],
    ["a target with a line feed", ["#a\r\nQUIT", "b"]],
  ])("never with %s", (_name, params) => {
    expect(() => formatLine("PRIVMSG", ...params)).toThrow();
  });

  test("and read again as it was", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "#", "ü", "🙂", "-"), minLength: 1, maxLength: 9 });
    const text = fc.string({ unit: fc.constantFrom("a", " ", ":", "ü", "🙂", "\u0002"), maxLength: 20 });
    fc.assert(
      fc.property(word, text, (target, body) => {
        expect(parseLine(formatLine("PRIVMSG", target, body))).toEqual({ tags: new Map(), command: "PRIVMSG", params: [target, body] });
      }),
    );
  });
});
