import type { StoreChange } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { put, session, tempStore, until } from "./testing/temp-store.ts";

type Seen = Array<StoreChange | "resync">;

test("a group that changes more than 1,000 rows of a kind is announced as a resync", async () => {
  const { service } = await tempStore(onTestFinished).open();
  const seen: Seen = [];
  service.changes((change) => seen.push(change));
  const rows = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => put(session(`${prefix}${n}`)));

  await service.commit(rows(1_000, "a"));
  expect(seen).toEqual([{ kind: "sessions", keys: Array.from({ length: 1_000 }, (_, n) => `a${n}`) }]);
  await service.commit(rows(1_001, "b"));

  expect(seen.slice(1)).toEqual(["resync"]);
});

test("a writer thread that was replaced is announced as a resync, and the version of sessions moves", async () => {
  const { service } = await tempStore(onTestFinished).open({ failpoint: "store.after-commit=exit", restartMs: 1 });
  const seen: Seen = [];
  service.changes((change) => seen.push(change));
  const before = service.sessions.version();

  await expect(service.commit([put(session("k"))])).rejects.toMatchObject({ code: "storage-unavailable" });
  await until(() => seen.includes("resync"), "a resync");

  expect(service.sessions.version()).not.toBe(before);
  // Its caller could not know; it was stored.
  expect(await service.sessions.get("k")).toMatchObject({ key: "k" });
});

test("1,000 listeners are taken, one more is refused until one has ended", async () => {
  const { service } = await tempStore(onTestFinished).open();
  const subscriptions = Array.from({ length: 1_000 }, () => service.changes(() => undefined));

  expect(() => service.changes(() => undefined)).toThrow(expect.objectContaining({ code: "busy" }));
  void subscriptions[0]?.dispose();

  expect(() => service.changes(() => undefined)).not.toThrow();
});

test("leases end with the process: the next one finds the rows of its owners abandoned, and its tokens are greater", async () => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  const held = await first.leases.acquire("role", { owner: "b1" });
  await first.close();

  const second = await temp.open();

  await expect(second.service.commit([], { fence: held })).rejects.toMatchObject({ code: "fenced" });
  expect((await second.leases.acquire("role")).token).toBeGreaterThan(held.token);
});
