import fc from "fast-check";
import { isBareToken, judgeReply } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { createReplyFilter } from "./reply-filter.ts";

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

  test.each(["N", "NO_REP", "**HEART", "  ", "<b", "NO_REPLY</"])("of an ordinary run is nothing yet of %j", (text) => {
    expect(createReplyFilter(undefined).during(text)).toBe("");
  });
});
