import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import { accept, claim, finish, tempStore } from "./testing/temp-store.ts";

const dirs = ["hook-agent"] as const;

async function withSpoilt(change: string) {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  await first.commit([accept("good 1"), accept("bad"), accept("bad 2", { lane: "lane of bad" }), accept("good 2")]);
  await first.close();
  const db = await openConnection(temp.path, {});
  db.exec(`UPDATE deliveries SET ${change} WHERE uid = 'bad'`);
  db.close();
  return temp.open();
}

test.each([
  "payload = '{'",
  "payload = NULL",
  "payload = 'null'",
  "payload = '[1]'",
  "payload = x'00ff'",
  "steps = 'x'",
  "result = '7'",
  "state = 'lost'",
  "attempt = 'often'",
  "not_before = 'later'",
  "expires_at = 'never'",
  "created_at = x'01'",
])("a delivery with %s is shown as unreadable, stops nothing, and can be ended", async (change) => {
  const store = await withSpoilt(change);
  const unreadable = { uid: "bad", state: "accepted", result: { reason: "unreadable" } };

  const due = store.deliveries.due({ dirs, now: 10_000, limit: 10 });
  expect(due.map((row) => row.uid)).toEqual(["good 1", "bad", "good 2"]);
  expect(due[1]).toMatchObject(unreadable);
  expect(due[1]).not.toHaveProperty("payload");
  expect(store.deliveries.get("bad")).toMatchObject(unreadable);
  expect(store.deliveries.list({ limit: 10 }).map((row) => row.uid)).toEqual(["good 2", "bad 2", "bad", "good 1"]);
  expect(store.deliveries.counts().byDir).toEqual({ "hook-agent": { accepted: 4 } });
  expect(store.deliveries.nextAt(dirs)).toBeLessThanOrEqual(10_000);
  expect(store.status()).toMatchObject({ ok: true, unreadableRows: 1 });

  await store.commit([finish("bad", "failed")]);

  expect(store.deliveries.due({ dirs, now: 10_000, limit: 10 }).map((row) => row.uid)).toEqual(["good 1", "bad 2", "good 2"]);
  expect(store.deliveries.list({ states: ["failed"], limit: 10 })).toMatchObject([{ uid: "bad" }]);
  expect(store.deliveries.counts().byDir).toEqual({ "hook-agent": { accepted: 3, failed: 1 } });
});

test("a list does not judge payloads, since it does not read them", async () => {
  const store = await withSpoilt("payload = '{'");
  expect(store.deliveries.list({ limit: 10 })[2]).not.toHaveProperty("result");
  expect(store.status()).not.toHaveProperty("unreadableRows");
});

test("a claimed one is met by the scans of abandoned and overdue deliveries", async () => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  await first.commit([accept("bad", { expiresAt: 5 }), claim("bad")]);
  await first.close();
  const db = await openConnection(temp.path, {});
  db.exec("UPDATE deliveries SET payload = '{'");
  db.close();
  const { deliveries } = await temp.open();
  const unreadable = [{ uid: "bad", state: "running", result: { reason: "unreadable" } }];

  expect(deliveries.abandoned({ dirs, boot: "now", limit: 10 })).toMatchObject(unreadable);
  expect(deliveries.overdue({ dirs, now: 10, limit: 10 })).toMatchObject(unreadable);
});

test.each(["running", "sending"] as const)("one that is %s without an owner is abandoned, and can be put back and ended", async (to) => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  await first.commit([accept("back"), accept("over"), claim("back", { to }), claim("over", { to })]);
  await first.close();
  const db = await openConnection(temp.path, {});
  db.exec("UPDATE deliveries SET lease_boot = NULL");
  db.close();
  const store = await temp.open();
  expect(store.deliveries.abandoned({ dirs, boot: "now", limit: 10 }).map(({ uid }) => uid)).toEqual(["back", "over"]);

  await store.commit([{ op: "delivery.requeue", uid: "back", from: [to], at: 3_000 }]);
  await store.commit([finish("over", "failed")]);

  expect(store.deliveries.get("back")).toMatchObject({ state: "accepted" });
  expect(store.deliveries.get("over")).toMatchObject({ state: "failed" });
  expect(store.deliveries.abandoned({ dirs, boot: "now", limit: 10 })).toEqual([]);
});

test("the database itself refuses a kind that is none, and a uid or lane that is no text: nobody would find such a row", async () => {
  const temp = tempStore(onTestFinished);
  await (await temp.open()).commit([accept("u1")]);
  const db = await openConnection(temp.path, {});
  onTestFinished(() => void db.close());
  for (const change of ["dir = 'sideways'", "dir = 7", "uid = x'01'", "lane = x'01'"]) {
    expect(() => db.exec(`UPDATE deliveries SET ${change}`)).toThrowError("CHECK constraint failed");
  }
});
