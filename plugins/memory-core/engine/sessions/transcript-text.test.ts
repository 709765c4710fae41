import { expect, test } from "vitest";
import type { TranscriptMessage } from "../../worker-protocol.ts";
import { createTranscriptBuilder } from "./transcript-text.ts";

const build = (messages: TranscriptMessage[]) => {
  const builder = createTranscriptBuilder();
  for (const message of messages) builder.add(message);
  return builder.build();
};
const say = (seq: number, role: "user" | "assistant", text: string, ts = 1_000 + seq): TranscriptMessage => ({ seq, role, text, ts });

test("one message is one line that begins with who spoke", () => {
  const { text, seqs, lastAt } = build([say(1, "user", "Where is\n\n the  router?\u2028\u0085"), say(4, "assistant", "\tIn the hall.")]);
  expect(text).toBe("User: Where is the router?\nAssistant: In the hall.");
  expect([seqs, lastAt]).toEqual([[1, 4], 1_004]);
});

test("a message without words leaves no line", () => {
  expect(build([say(1, "user", " \n\t")])).toMatchObject({ text: "", seqs: [], lastAt: 0 });
});

test("secrets are masked before anything else sees the text", () => {
  const { text } = build([say(1, "user", "my API_KEY=abcdef0123456789uvwxyz\nand the\npassword: hunter2")]);
  expect(text).toBe("User: my API_KEY=abcdef…wxyz and the password: ***");
});

test("the hash covers words, numbers and times", () => {
  const hashes = [
    build([say(1, "user", "a")]),
    build([say(1, "user", "b")]),
    build([say(2, "user", "a", 1_001)]),
    build([say(1, "user", "a", 9)]),
    build([say(1, "assistant", "a")]),
  ].map(({ hash }) => hash);
  expect(new Set(hashes).size).toBe(5);
  expect(build([say(1, "user", "a")]).hash).toBe(hashes[0]);
});
