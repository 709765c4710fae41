import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createReplyFilter, isBareToken, judgeReply, stripAck } from "./acknowledgement.ts";

describe("the token is taken off", () => {
  test.each([
    ["HEARTBEAT_OK", ""],
    ["  HEARTBEAT_OK.\n", ""],
    ["**HEARTBEAT_OK**", ""],
    ["`HEARTBEAT_OK`", ""],
    ["```\nHEARTBEAT_OK\n```", ""],
    ["<b>HEARTBEAT_OK</b>", ""],
    ["_HEARTBEAT_OK_", ""],
    ["HEARTBEAT_OK HEARTBEAT_OK", ""],
    ["HEARTBEAT_OK\n\nAll is well.", "All is well."],
    ["HEARTBEAT_OK: all is well.", "all is well."],
    ["**All** is well. **HEARTBEAT_OK**", "**All** is well."],
    ["**All is well** HEARTBEAT_OK", "**All is well**"],
    ["All is well. HEARTBEAT_OK!!", "All is well."],
  ])("%j", (text, rest) => {
    expect(stripAck(text)).toEqual({ rest, found: true });
  });

  test.each([
    "",
    "All is well.",
    "I say HEARTBEAT_OK when nothing is wrong.",
    "HEARTBEAT_OKAY then",
    "MY_HEARTBEAT_OK",
    "HEARTBEAT_OK_2",
    "heartbeat_ok",
  ])("not in %j", (text) => {
    expect(stripAck(text)).toEqual({ rest: text, found: false });
  });
});

describe("an answer is", () => {
  test("an acknowledgement up to the limit, and news one character later", () => {
    expect(judgeReply(`HEARTBEAT_OK ${"x".repeat(300)}`, 300)).toEqual({ kind: "ack", rest: "x".repeat(300) });
    expect(judgeReply(`HEARTBEAT_OK ${"x".repeat(301)}`, 300)).toEqual({ kind: "news", text: "x".repeat(301) });
    expect(judgeReply("HEARTBEAT_OK", 0)).toEqual({ kind: "ack", rest: "" });
    expect(judgeReply("HEARTBEAT_OK x", 0)).toEqual({ kind: "news", text: "x" });
  });

  test("news without a token, however short; nothing when it is empty or wants silence", () => {
    expect(judgeReply("Look!", 300)).toEqual({ kind: "news", text: "Look!" });
    expect(judgeReply(" \n", 300)).toEqual({ kind: "empty", silent: false });
    expect(judgeReply("**NO_REPLY**", 300)).toEqual({ kind: "empty", silent: true });
  });
});

test.each([
  ["NO_REPLY", true],
  [" `HEARTBEAT_OK` ", true],
  ["NO_REPLY.", true],
  ["NO_REPLY needed", false],
  ["", false],
  ["No", false],
])("%j is a bare token: %s", (text, bare) => {
  expect(isBareToken(text)).toBe(bare);
});

describe("what is shown of an answer while it is written", () => {
  const stream = (text: string, ackMaxChars: number | undefined, cuts: number[]) => {
    const filter = createReplyFilter(ackMaxChars);
    const shown = [...new Set([...cuts, text.length])].sort((a, b) => a - b).map((end) => filter.during(text.slice(0, end)));
    return [...shown, filter.end(text)];
  };

  const part = fc.oneof(
    fc.constantFrom("HEARTBEAT_OK", "NO_REPLY", "**", "`", "\n", " ", "<b>", "</b>", ".", "HEART", "😀"),
    fc.string({ maxLength: 40 }),
    fc.string({ minLength: 100, maxLength: 500 }),
  );

  test("only grows, and ends with what a final look at the whole answer leaves", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.array(fc.nat(600)), fc.constantFrom(0, 10, 300), (parts, cuts, ackMaxChars) => {
        const text = parts.join("");
        const shown = stream(text, ackMaxChars, cuts);
        for (const [i, now] of shown.entries()) expect(now.startsWith(shown[i - 1] ?? "")).toBe(true);
        const reply = judgeReply(text, ackMaxChars);
        if (reply.kind !== "news") expect(shown.at(-1)).toBe("");
        else expect(reply.text.startsWith(shown.at(-1) ?? "") || (shown.at(-1) ?? "").startsWith(reply.text)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("of an ordinary run is all of it, unless it is a bare token", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), fc.array(fc.nat(600)), (parts, cuts) => {
        const text = parts.join("");
        const shown = stream(text, undefined, cuts);
        for (const [i, now] of shown.entries()) expect(now.startsWith(shown[i - 1] ?? "")).toBe(true);
        if (!isBareToken(text)) expect(shown.at(-1)).toBe(text);
        else if (text.length <= 64) expect(shown.at(-1)).toBe("");
      }),
      { numRuns: 500 },
    );
  });

  test.each(["N", "NO_REP", "**HEART", "  "])("of an ordinary run is nothing yet of %j", (text) => {
    expect(createReplyFilter(undefined).during(text)).toBe("");
  });
});
