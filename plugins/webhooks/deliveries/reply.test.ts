import type { MessageRow } from "svc/sdk";
import { expect, test } from "vitest";
import { finalText, hasActed, readReply } from "./texts.ts";

const row = (role: MessageRow["role"], runId: string, ...texts: string[]) =>
  ({ role, runId, content: texts.map((text) => ({ type: "text", text })) }) as MessageRow;

test.each([
  ["All is well.", { disposition: "visible", text: "All is well." }],
  ["HEARTBEAT_OK", { disposition: "silent", because: "heartbeat", text: "" }],
  ["**HEARTBEAT_OK**", { disposition: "silent", because: "heartbeat", text: "" }],
  ["`HEARTBEAT_OK`", { disposition: "silent", because: "heartbeat", text: "" }],
  ["<b>HEARTBEAT_OK</b>", { disposition: "silent", because: "heartbeat", text: "" }],
  [`HEARTBEAT_OK ${"x".repeat(300)}`, { disposition: "silent", because: "heartbeat", text: "x".repeat(300) }],
  [`HEARTBEAT_OK ${"x".repeat(301)}`, { disposition: "visible", text: "x".repeat(301) }],
  ["NO_REPLY", { disposition: "silent", because: "silent", text: "" }],
  ["NO_REPLY, because", { disposition: "visible", text: "NO_REPLY, because" }],
  ["  \n ", { disposition: "empty", because: "empty", text: "" }],
])("the answer %j", (text, expected) => {
  expect(readReply(text)).toEqual(expected);
});

test("the answer is the last thing the agent said in this run", () => {
  const rows = [
    row("assistant", "a", "let me look"),
    row("toolResult", "a", "42"),
    row("assistant", "a", "It is ", "42."),
    row("assistant", "b", "else"),
  ];
  expect(finalText(rows, "a")).toBe("It is 42.");
  expect(finalText(rows, "c")).toBe("");
  expect([hasActed(rows, "a"), hasActed(rows, "b")]).toEqual([true, false]);
});
