import { expect, test } from "vitest";
import { turnsDuring } from "../../../test/fixtures/turns-during.ts";
import { warmTexts } from "./warm-texts.ts";

test("texts are warmed one piece a turn, and no more of them once the gateway stops", async () => {
  expect(await turnsDuring(() => warmTexts(new AbortController().signal))).toBeGreaterThanOrEqual(7);
  expect(await turnsDuring(() => warmTexts(AbortSignal.abort()))).toBeLessThanOrEqual(2);
});
