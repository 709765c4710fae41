import { expect, test } from "vitest";
import { createAdmission } from "./admission.ts";

test("places are given up to the limit, the next wait in order, and past the queue it is busy before anything starts", async () => {
  const admit = createAdmission({ maxActive: 2, maxWaiting: 2 });
  const order: string[] = [];
  const first = await admit();
  await admit();
  const third = admit().then((place) => {
    order.push("third");
    return place;
  });
  const fourth = admit().then(() => order.push("fourth"));

  await expect(admit()).rejects.toMatchObject({ code: "busy", retryAfterMs: 1_000 });
  expect(order).toEqual([]);

  first.dispose();
  (await third).dispose();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
});

test("giving a place back twice lets one in, not two", async () => {
  const admit = createAdmission({ maxActive: 1, maxWaiting: 5 });
  const held = await admit();
  held.dispose();
  held.dispose();
  await admit();
  let entered = false;
  const next = admit().then(() => {
    entered = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(entered).toBe(false);
  void next;
});

test("whoever gives up while it waits leaves the queue, and its turn goes to the next", async () => {
  const admit = createAdmission({ maxActive: 1, maxWaiting: 2 });
  const held = await admit();
  const gone = new AbortController();
  const first = admit(gone.signal);
  const second = admit();
  gone.abort(new Error("given up"));
  await expect(first).rejects.toThrow("given up");
  const third = admit();
  held.dispose();
  (await second).dispose();
  (await third).dispose();
  await expect(admit(gone.signal)).rejects.toThrow("given up");
});
