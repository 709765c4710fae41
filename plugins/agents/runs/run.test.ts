import type { AgentInfo } from "svc/sdk";
import { expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import type { HeartbeatRun } from "../heartbeat/heartbeat-run.ts";
import { Run } from "./run.ts";

function runOf(heartbeat?: Pick<HeartbeatRun, "ackMaxChars">): Run {
  const run = new Run({
    id: "r1",
    agent: { id: "main" } as AgentInfo,
    sessionKey: "agent:main:main",
    sessionId: "s1",
    request: { message: "Hello", actor: { kind: "http", scopes: [] }, trigger: "user" },
    family: undefined,
    model: undefined,
    acceptedAt: 0,
    arrivedAt: 0,
    origin: "anybody",
    ...(heartbeat ? { heartbeat: heartbeat as HeartbeatRun } : {}),
  });
  run.beginMessage();
  return run;
}

test("what is shown of a message, piece by piece, is the message", () => {
  const run = runOf();
  const pieces = ["NO_", "REPLY", " is", "", " a token", " <", "<", "3 😀"];
  const shown = pieces.map((piece) => run.write(piece));
  shown.push(run.completeText());

  expect(shown.join("")).toBe(pieces.join(""));
  expect(run.shownText).toBe(pieces.join(""));
});

const frame =
  '<<<EXTERNAL_UNTRUSTED_CONTENT id="9f2c4e1ab07d3356">>>\nSource: Email\n---\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="9f2c4e1ab07d3356">>>';
test.each([
  ["white space only is not shown", ["\n", "\n", "\n".repeat(100)], ""],
  ["white space around an empty frame is not shown", ["\n\n", frame, "\n"], ""],
  ["white space before a word is shown with it", ["\n", "\n", "Hello", "\n"], "\n\nHello\n"],
])("%s, and the texts of the run say the same", (_name, pieces, expected) => {
  const run = runOf();
  const shown = [...pieces.map((piece) => run.write(piece)), run.completeText()];
  run.endMessage();

  expect(shown.join("")).toBe(expected);
  expect(run.shownTexts.join("")).toBe(expected);
});

test.each([
  ["an answer", undefined],
  ["a heartbeat's answer", { ackMaxChars: 300 }],
])("%s that comes letter by letter is not read anew for each of them", (_name, heartbeat) => {
  const work = (n: number) => () => {
    const run = runOf(heartbeat);
    for (let i = 0; i < n; i++) run.write("x");
  };

  expect(growth(work, { from: 8_000, to: 512_000 })).toBeLessThan(LINEAR);
});
