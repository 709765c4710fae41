import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { turnsDuring } from "../../../test/fixtures/turns-during.ts";
import { type AnswerLimits, answerLimits, limited } from "./answer-limits.ts";

describe("an answer", () => {
  const bodyOf = (chunks: readonly string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const textOf = (body: Readable, limits: AnswerLimits) => new Response(limited(body, { isSuccess: true, limits })).text();

  test("of any number of events passes as it came, whatever the pieces it comes in", async () => {
    const event = fc.tuple(fc.string({ unit: "grapheme-ascii", maxLength: 20 }), fc.constantFrom("\n", "\r\n"));
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), async (events, size) => {
        const text = events.map(([data, end]) => `data: ${data.replace(/[\r\n]/g, "")}${end}${end}`).join("");
        const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
        expect(await textOf(bodyOf(chunks), { maxBytes: 10_000, maxEventBytes: 30, maxEventParts: 30 })).toBe(text);
      }),
    );
  });

  test("that comes faster than it can be read leaves others their turn", async () => {
    let left = 40;
    const busy = new Readable({
      highWaterMark: 1,
      read() {
        const until = performance.now() + 2;
        while (performance.now() < until);
        this.push(left-- > 0 ? new Uint8Array(8) : null);
      },
    });

    expect(await turnsDuring(() => textOf(busy, answerLimits))).toBeGreaterThan(5);
  });

  test("that is left early ends its body at once, whether more comes or not", async () => {
    const silent = new Readable({ read: () => undefined });
    await limited(silent, { isSuccess: true, limits: answerLimits }).cancel();
    expect(silent.destroyed).toBe(true);
  });

  test("is not judged by the brackets in its texts", async () => {
    const chunks = [`data: "[[[[\\"[[[,,`, `,,,,,\\\\"\n\ndata: "[[[[[[[["\n\n`];
    expect(await textOf(bodyOf(chunks), { maxBytes: 100, maxEventBytes: 50, maxEventParts: 2 })).toBe(chunks.join(""));
  });

  test.each([
    ["altogether", ["data: 1\n\n".repeat(20)]],
    ["in an event of several lines", ["data: 1\n".repeat(8)]],
    ["in an event that comes in pieces", Array<string>(60).fill("x")],
    ["by what an event is made of", ["data: [[", "],{},0,0,", "0,0,0,0]\n\n"]],
  ])("that is too long %s breaks off with a fault of the server", async (_name, chunks) => {
    const read = textOf(bodyOf(chunks), { maxBytes: 100, maxEventBytes: 50, maxEventParts: 9 });
    await expect(read).rejects.toMatchObject({ fault: "network", message: expect.stringContaining("larger than") });
  });
});
