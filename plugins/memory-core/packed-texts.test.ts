import { expect, test } from "vitest";
import { packTexts, unpackTexts } from "./packed-texts.ts";

const never = new AbortController().signal;

test("texts of all scripts come out as they went in, empty ones too", async () => {
  const texts = ["", "plain", "Grüße, 世界 👩‍🚀", "", "a\u0000b", "end"];
  expect(await unpackTexts(packTexts(texts), never)).toEqual(texts);
  expect(await unpackTexts(packTexts([]), never)).toEqual([]);
});

test("memory that was moved to another thread is not copied", async () => {
  const packed = packTexts(["one", "two"]);
  const moved = structuredClone(packed, { transfer: [packed.bytes.buffer] });
  expect(packed.bytes.byteLength).toBe(0);
  expect(await unpackTexts(moved, never)).toEqual(["one", "two"]);
});

test("others have their turn while megabytes are decoded, and nobody decodes for nobody", async () => {
  const texts = Array.from({ length: 5 }, (_, i) => String(i).repeat(1024 * 1024));
  const packed = packTexts(texts);
  let turns = 0;
  const count = () => {
    turns += 1;
    if (turns < 100) setImmediate(count);
  };
  setImmediate(count);
  const unpacked = unpackTexts(packed, never);
  expect((await unpacked).map((text) => text[0])).toEqual(["0", "1", "2", "3", "4"]);
  expect(turns).toBeGreaterThanOrEqual(4);

  const stop = new AbortController();
  const late = unpackTexts(packed, stop.signal);
  stop.abort(new Error("given up"));
  await expect(late).rejects.toThrow("given up");
});
