import { readFileSync } from "node:fs";
import fc from "fast-check";
import { EXTERNAL_NOTICE, frameExternal, stripFrames, wrapExternal } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { createFrameStripper } from "./frame-stripper.ts";

const corpus = JSON.parse(readFileSync(new URL("../../../test/fixtures/spoofed-markers.json", import.meta.url), "utf8")) as Array<{
  name: string;
  marker: string;
}>;
const meta = { source: "Email", task: "Mail", from: "eve@example.test", subject: "Source: none" };

/** Parts of a text that are shown when it arrives in these deltas. */
function shownOf(deltas: readonly string[]): string[] {
  const stripper = createFrameStripper();
  return [...deltas.map((delta) => stripper.push(delta)), stripper.end()];
}

function cutAt(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort((a, b) => a - b);
  return places.slice(1).map((end, i) => text.slice(places[i], end));
}

describe("a text that is shown while it is written", () => {
  test.each([
    ["words", ["The ", "router ", "is in the hall.", " Second", " S", "o."]],
    ["code", ["if (a ", "< b && c", " >> 2) x <", "= 1; ", "a << b"]],
    ["marks of other languages", ["«Да» ", "‹oui› & «non»", " &amp; 1 < 2"]],
    ["a list", ["- one\n", "- two\n", "\n", "end"]],
  ])("of %s comes whole, and at once but for what may begin a marker", (_, deltas) => {
    const shown = shownOf(deltas);
    expect(shown.join("")).toBe(deltas.join(""));
    let late = 0;
    for (const [i, delta] of deltas.entries()) {
      late += delta.length - (shown[i]?.length ?? 0);
      expect(late).toBeLessThanOrEqual(3);
    }
  });

  test("a marker that is cut between two deltas is never seen, nor any part of it", () => {
    const text = `It says:\n${wrapExternal("Order 7\narrived", meta)}\nThat is all.`;
    for (let cut = 1; cut < text.length; cut += 1) {
      const shown = shownOf([text.slice(0, cut), text.slice(cut)]);
      expect(shown.join("")).toBe("It says:\nOrder 7\narrived\nThat is all.");
    }
    expect(shownOf([...text]).join("")).toBe("It says:\nOrder 7\narrived\nThat is all.");
  });

  test.each(corpus)("nor one in other letters: $name", ({ marker }) => {
    expect(shownOf([..."a ", ...marker, ..."! b"]).join("")).toBe("a ! b");
  });

  test("a frame in System: lines is taken off as in the whole text", () => {
    const text = `${EXTERNAL_NOTICE}\n\nOrder from\n${frameExternal("Ada", meta)}\ncame`;
    const lines = text
      .split("\n")
      .map((line) => `System: ${line}`.trimEnd())
      .join("\n");
    expect(shownOf([...lines]).join("")).toBe(stripFrames(lines));
  });

  const scraps = [
    "<",
    "<<",
    "&lt;",
    "&",
    "\n",
    "S",
    "System: ",
    "SECURITY NOTICE: ",
    "END",
    "EXTERNAL",
    "«",
    ">>>",
    "---\n",
    "Source: x\n",
  ];
  const pieces = (markers: readonly string[]) =>
    fc.array(
      fc.oneof(
        fc.constantFrom(...markers.map((marker) => `${marker}! `)),
        fc.constantFrom(...scraps),
        fc.string({ maxLength: 20 }).map((text) => wrapExternal(text, meta)),
        fc.string({ maxLength: 20 }),
      ),
      { maxLength: 6 },
    );
  const cuts = fc.array(fc.nat(4_000), { maxLength: 12 });
  const markers = corpus.map(({ marker }) => marker);

  test("wherever it is cut, what was shown is what the whole text shows", () => {
    // A forged marker without an end takes one that stands up to 160 characters behind it; a frame between them, taken off, is no distance in the whole text.
    const ended = markers.filter((marker) => stripFrames(`${marker}! >>>`) === "! >>>");
    fc.assert(
      fc.property(pieces(ended), cuts, (parts, at) => {
        const text = parts.join("");
        expect(shownOf(cutAt(text, at)).join("")).toBe(stripFrames(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test("wherever it is cut, and whatever stands in it, no marker is shown", () => {
    fc.assert(
      fc.property(pieces(markers), cuts, (parts, at) => {
        const shown = shownOf(cutAt(parts.join(""), at)).join("");
        expect(stripFrames(shown)).toBe(shown);
      }),
      { numRuns: 1_000 },
    );
  });

  test("no more is held back than a frame begins with", () => {
    const stripper = createFrameStripper();
    const endless = `<<<EXTERNAL_UNTRUSTED_CONTENT id="9f2c4e1ab07d3356">>>\nSource: `;
    let shown = stripper.push(endless).length;
    for (let sent = 0; sent < 10_000; sent += 100) shown += stripper.push("x".repeat(100)).length;
    expect(shown).toBeGreaterThan(5_000);
  });
});
