import { describe, expect, test } from "vitest";
import { isBareToken, judgeReply, stripAck } from "./acknowledgement.ts";

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
