import { expect, test } from "vitest";
import { createPacer } from "./pacer.ts";

test("work that is held waits until it may go on, or is stopped", async () => {
  const stop = new AbortController();
  let isHeld = true;
  const pacer = createPacer(stop.signal, { isHeld: () => isHeld });
  let isThrough = false;
  const breath = pacer.breathe().then(() => {
    isThrough = true;
  });
  await new Promise(setImmediate);
  expect(isThrough).toBe(false);

  isHeld = false;
  await breath;

  isHeld = true;
  const stopped = pacer.breathe();
  stop.abort();
  await expect(stopped).rejects.toMatchObject({ code: "memory-sync-aborted" });
});
