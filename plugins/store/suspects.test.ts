import { copyFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createSuspects } from "./suspects.ts";
import { accept, claim, firstOwner, run, type TempStore, tempStore } from "./testing/temp-store.ts";

/** Files of a process that is killed now. */
function killed(temp: TempStore): TempStore {
  const victim = tempStore(onTestFinished);
  for (const suffix of ["", "-wal"]) copyFileSync(temp.path + suffix, victim.path + suffix);
  return victim;
}

const started = (runId: string, bootId = "b1") => ({
  op: "run.put" as const,
  run: run(runId, { state: "running", startedAt: 5, bootId }),
});
const claimed = (uid: string) => claim(uid, { leaseBoot: "b1/1" });

test("of rows under way at a kill those are suspects whose own step had begun", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit(["waits", "claimed", "queued", "other boot", "begun", "again", "over"].map((uid) => accept(uid)));
  await store.commit([accept("sent", { dir: "out" }), claim("sent", { to: "sending", leaseBoot: "b1:1" })]);
  await store.commit(["claimed", "queued", "other boot", "begun", "again", "over"].map(claimed));
  await store.commit([
    { op: "run.put", run: run("queued", { bootId: "b1" }) },
    started("other boot", "b0"),
    started("begun"),
    started("again:2"),
    { op: "run.put", run: run("over", { state: "ok", startedAt: 5, endedAt: 6, bootId: "b1" }) },
  ]);

  const { deliveries } = await killed(temp).open();

  const verdicts = ["waits", "claimed", "queued", "other boot", "begun", "again", "over", "sent"].map((uid) => deliveries.crashed(uid));
  expect(verdicts).toEqual([undefined, undefined, undefined, undefined, "suspect", "suspect", undefined, "suspect"]);
  expect(deliveries.gate.suspicion("begun")).toBe(1);
});

test("the only one is guilty; after a clean stop nobody is", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit([accept("a"), claimed("a"), started("a")]);
  const victim = killed(temp);
  await store.close();

  expect((await victim.open()).deliveries.crashed("a")).toBe("guilty");
  expect((await temp.open()).deliveries.crashed("a")).toBeUndefined();
});

test("an end that nobody can have caused takes charges back from those that were waiting", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit([accept("charged"), claim("charged")]);
  const result = { reason: "r", suspect: 2, crashes: 2 };
  await store.commit([
    { op: "delivery.requeue", uid: "charged", from: ["running"], owner: firstOwner, attempt: 2, notBefore: 9_000, result, at: 3_000 },
  ]);
  const idle = killed(temp);
  await store.commit([accept("other"), claimed("other"), started("other")]);

  expect((await killed(temp).open()).deliveries.get("charged")).toMatchObject({ attempt: 2, result: { crashes: 2 } });
  const { deliveries } = await idle.open();
  expect(deliveries.get("charged")).toMatchObject({ state: "accepted", attempt: 0, notBefore: 9_000, result: { reason: "r", suspect: 2 } });
  expect(deliveries.get("charged")?.result).not.toHaveProperty("crashes");
});

test("a suspect begins when nothing is under way, of any queue, and nothing begins beside it", () => {
  const { gate } = createSuspects({ begun: new Set(["a", "b"]), marked: new Map(), forgive: [] }, () => 0);
  const freed: string[] = [];
  gate.onFree(() => freed.push("free"));

  expect(gate.admit("hooks", ["a", "x", "b"])).toEqual(["a"]);
  const first = gate.enter("a");
  expect(gate.admit("hooks", ["x", "b"])).toEqual([]);
  expect(gate.admit("out", ["m"])).toEqual([]);
  first.leave({ isCleared: true });
  expect(freed).toHaveLength(1);
  expect(gate.suspicion("a")).toBe(0);
  // The other queue lets the suspect go first.
  expect(gate.admit("out", ["m"])).toEqual([]);
  expect(gate.admit("hooks", ["x", "b"])).toEqual(["b"]);
  const second = gate.enter("b");
  second.leave({ isCleared: true });

  expect(gate.admit("hooks", ["x"])).toEqual(["x"]);
  expect(gate.admit("out", ["m"])).toEqual(["m"]);
});

test("a suspect waits for what is under way already; a queue that stopped asking keeps nobody waiting", () => {
  let now = 0;
  const { gate } = createSuspects({ begun: new Set(), marked: new Map([["a", 1]]), forgive: [] }, () => now);
  const other = gate.enter("x");

  expect(gate.admit("hooks", ["a"])).toEqual([]);
  expect(gate.admit("out", ["m"])).toEqual([]);
  now = 5_001;
  expect(gate.admit("out", ["m"])).toEqual(["m"]);
  other.leave({ isCleared: true });

  expect(gate.admit("hooks", ["a", "y"])).toEqual(["a"]);
});

test("one that was cut off stays a suspect", () => {
  const { gate } = createSuspects({ begun: new Set(["a"]), marked: new Map([["a", 2]]), forgive: [] }, () => 0);
  expect(gate.suspicion("a")).toBe(3);

  gate.enter("a").leave({ isCleared: false });

  expect(gate.suspicion("a")).toBe(3);
});
