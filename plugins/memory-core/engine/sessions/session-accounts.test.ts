import { expect, test } from "vitest";
import { createSessionAccounts } from "./session-accounts.ts";

const grow = (bytes: number, messages: number, isReset = false, sessionId = "a") => [{ sessionId, bytes, messages, isReset }];

test("a session is due at the byte threshold, not one byte before", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100, deltaMessages: 50 });
  expect(accounts.add(grow(99, 1))).toBe(false);
  expect(accounts.isDue("a")).toBe(false);
  expect(accounts.add(grow(1, 1))).toBe(true);
  expect([accounts.isDue("a"), accounts.dueIds()]).toEqual([true, ["a"]]);
});

test("a session is due at the message threshold, not one message before", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100_000, deltaMessages: 3 });
  expect(accounts.add(grow(1, 2))).toBe(false);
  expect(accounts.add(grow(1, 1))).toBe(true);
});

test("0 switches a threshold off: any growth counts", () => {
  expect(createSessionAccounts({ deltaBytes: 0, deltaMessages: 50 }).add(grow(1, 1))).toBe(true);
  expect(createSessionAccounts({ deltaBytes: 100, deltaMessages: 0 }).add(grow(1, 1))).toBe(true);
  expect(createSessionAccounts({ deltaBytes: 0, deltaMessages: 0 }).add(grow(0, 0))).toBe(false);
});

test("the threshold is taken off, what is beyond it counts for the next time", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100, deltaMessages: 50 });
  expect(accounts.add(grow(160, 1))).toBe(true);
  expect(accounts.add(grow(39, 1))).toBe(false);
  expect(accounts.add(grow(1, 1))).toBe(true);
});

test("a session that was compacted counts from zero", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100, deltaMessages: 50 });
  accounts.add(grow(99, 49));
  expect(accounts.add(grow(99, 49, true))).toBe(false);
  expect(accounts.add(grow(0, 1))).toBe(true);
});

test("an indexed session starts again at zero, and what came while it was read stays booked", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100, deltaMessages: 50 });
  accounts.add(grow(150, 1));
  const settle = accounts.settling("a");
  accounts.add(grow(30, 1));
  settle();
  expect(accounts.isDue("a")).toBe(false);
  expect(accounts.add(grow(69, 1))).toBe(false);
  expect(accounts.add(grow(1, 1))).toBe(true);
});

test("a session that becomes due while it is read is read again", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100, deltaMessages: 50 });
  accounts.add(grow(100, 1));
  const settle = accounts.settling("a");
  accounts.add(grow(100, 1));
  settle();
  expect(accounts.isDue("a")).toBe(true);
});

test("sessions have accounts of their own", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100, deltaMessages: 50 });
  expect(accounts.add([...grow(60, 1), ...grow(60, 1, false, "b")])).toBe(false);
  expect(accounts.add(grow(40, 1, false, "b"))).toBe(true);
  expect([accounts.isDue("a"), accounts.isDue("b")]).toEqual([false, true]);
});

test("ten thousand accounts are kept, the quietest one that is not due goes first", () => {
  const accounts = createSessionAccounts({ deltaBytes: 100, deltaMessages: 50 });
  accounts.add(grow(100, 1, false, "due"));
  accounts.add(grow(99, 1, false, "quiet"));
  accounts.add(grow(99, 1, false, "kept"));
  for (let i = 0; i < 9_998; i++) accounts.add(grow(1, 1, false, `s${i}`));
  expect(accounts.isDue("due")).toBe(true);
  expect(accounts.add(grow(1, 1, false, "kept"))).toBe(true);
  expect(accounts.add(grow(1, 1, false, "quiet"))).toBe(false);
});
