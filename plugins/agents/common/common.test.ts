import fc from "fast-check";
import { cutEnd } from "svc/sdk";
import { KeyedMutex } from "svc/sdk/internal";
import { expect, test } from "vitest";
import { whileAlive } from "./abort.ts";
import { cutBytes, cutMiddle } from "./cut.ts";

test("a long text keeps 70 % of its head and 20 % of its tail around a marker", () => {
  const text = `${"a".repeat(5_000)}${"z".repeat(5_000)}`;

  const cut = cutMiddle(text, 1_000);

  expect(cut.startsWith("a".repeat(700))).toBe(true);
  expect(cut.endsWith("z".repeat(200))).toBe(true);
  expect(cut).toContain("\n[… 9100 characters left out …]\n");
});

test("a text at the limit is left alone, one past it is cut", () => {
  expect(cutMiddle("x".repeat(200), 200)).toBe("x".repeat(200));
  expect(cutMiddle("x".repeat(201), 200)).not.toBe("x".repeat(201));
  expect(cutEnd("abcd", 4)).toBe("abcd");
  expect(cutEnd("abcde", 4)).toBe("abc…");
});

test("bytes are counted where bytes are the limit, and no character is split", () => {
  expect(cutBytes("äöü", 6)).toBe("äöü");
  expect(cutBytes("äöü!", 6)).toBe("ä…");
  for (const text of ["aé€😀".repeat(9), `${"a".repeat(20)}😀😀`, "😀".repeat(9)]) {
    for (let max = 3; max < 60; max++) {
      const cut = cutBytes(text, max);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max);
      expect(cut).not.toContain("\ufffd");
      expect(text.startsWith(cut.replace("…", ""))).toBe(true);
    }
  }
});

test("no cut is longer than its limit or splits a surrogate pair", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 600 }), fc.integer({ min: 100, max: 400 }), (text, max) => {
      for (const cut of [cutMiddle(text, max), cutEnd(text, max)]) {
        expect(cut.length).toBeLessThanOrEqual(max);
        if (!/\p{Surrogate}/u.test(text)) expect(cut).not.toMatch(/\p{Surrogate}/u);
      }
    }),
  );
});

test("work that ignores its signal is given up at once, or after the grace", async () => {
  const stop = new AbortController();
  const never = new Promise<void>(() => undefined);
  const waiting = [whileAlive(never, stop.signal), whileAlive(never, stop.signal, 5)];

  stop.abort(new Error("enough"));

  for (const w of waiting) await expect(w).rejects.toThrow("enough");
});

test("work that ends within the grace still counts", async () => {
  const stop = new AbortController();
  const work = new Promise<string>((resolve) => stop.signal.addEventListener("abort", () => resolve("saved")));
  const waiting = whileAlive(work, stop.signal, 60_000);

  stop.abort();

  expect(await waiting).toBe("saved");
});

test("tasks of one key run one after the other, a failed one does not stop the next", async () => {
  const mutex = new KeyedMutex();
  const order: string[] = [];
  const task =
    (name: string, fails = false) =>
    async () => {
      order.push(`${name}+`);
      await Promise.resolve();
      order.push(`${name}-`);
      if (fails) throw new Error(name);
      return name;
    };

  const results = await Promise.allSettled([mutex.run("k", task("a")), mutex.run("k", task("b", true)), mutex.run("k", task("c"))]);

  expect(order).toEqual(["a+", "a-", "b+", "b-", "c+", "c-"]);
  expect(results.map((r) => r.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
