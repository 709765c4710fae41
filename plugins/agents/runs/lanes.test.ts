import fc from "fast-check";
import { expect, test } from "vitest";
import { type LaneJob, Lanes } from "./lanes.ts";

/** Jobs that end when told to, and a record of what began. */
function createJobs() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const job = (key: string, name: string, lane: LaneJob["lane"] = "main"): LaneJob => ({
    key,
    lane,
    start: () =>
      new Promise((resolve) => {
        begun.push(name);
        ends.set(name, resolve);
      }),
  });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return { begun, job, end };
}

test("a session runs one job at a time, in order", async () => {
  const lanes = new Lanes(() => 4);
  const { begun, job, end } = createJobs();

  expect(lanes.enqueue(job("s", "1"))).toBe(true);
  expect(lanes.enqueue(job("s", "2"))).toBe(false);
  lanes.enqueue(job("s", "3"));
  expect(begun).toEqual(["1"]);
  expect(lanes.depth("s")).toBe(2);

  await end("1");
  expect(begun).toEqual(["1", "2"]);
  await end("2");
  expect(begun).toEqual(["1", "2", "3"]);
});

test("sessions run side by side up to the cap, and the next free place goes to the session that waited longest", async () => {
  const lanes = new Lanes(() => 2);
  const { begun, job, end } = createJobs();

  for (const name of ["a1", "a2", "b1", "c1"]) lanes.enqueue(job(name.charAt(0), name));
  expect(begun).toEqual(["a1", "b1"]);
  expect([lanes.active, lanes.queued]).toEqual([2, 2]);

  await end("a1");
  expect(begun).toEqual(["a1", "b1", "c1"]);
  await end("b1");
  expect(begun).toEqual(["a1", "b1", "c1", "a2"]);
});

test("a job that waits can be taken out, one that began cannot", () => {
  const lanes = new Lanes(() => 1);
  const { job } = createJobs();
  const [first, second] = [job("s", "1"), job("s", "2")];
  lanes.enqueue(first);
  lanes.enqueue(second);

  expect(lanes.remove(second)).toBe(true);
  expect(lanes.remove(second)).toBe(false);
  expect(lanes.remove(first)).toBe(false);
});

test("whatever the order of ends: never two jobs of a session, never more than the cap, every job runs", async () => {
  const order = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.nat(100)), { maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(order, fc.integer({ min: 1, max: 3 }), async (plan, cap) => {
      const lanes = new Lanes(() => cap);
      const running: string[] = [];
      let done = 0;
      for (const [key, hops] of plan) {
        lanes.enqueue({
          key,
          lane: "main",
          async start() {
            expect(running).not.toContain(key);
            running.push(key);
            expect(running.length).toBeLessThanOrEqual(cap);
            for (let i = 0; i < hops % 7; i++) await Promise.resolve();
            running.splice(running.indexOf(key), 1);
            done += 1;
          },
        });
      }
      while (lanes.active > 0 || lanes.queued > 0) await new Promise<void>((resolve) => setImmediate(resolve));
      expect(done).toBe(plan.length);
    }),
    { numRuns: 60 },
  );
});

test("a limit that grew lets the next ones in, one that shrank ends nothing", async () => {
  let cap = 1;
  const lanes = new Lanes(() => cap);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  for (const key of ["a", "b", "c"]) {
    lanes.enqueue({
      key,
      lane: "main",
      start: () => {
        started.push(key);
        return new Promise<void>((resolve) => ends.set(key, resolve));
      },
    });
  }
  expect(started).toEqual(["a"]);

  cap = 2;
  lanes.refill();
  expect(started).toEqual(["a", "b"]);

  cap = 1;
  ends.get("a")?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect([started, lanes.active]).toEqual([["a", "b"], 1]);
});

test("each lane has places of its own", () => {
  const lanes = new Lanes((lane) => (lane === "main" ? 1 : 2));
  const { begun, job } = createJobs();

  for (const name of ["m1", "m2"]) lanes.enqueue(job(name, name));
  for (const name of ["h1", "h2", "h3"]) lanes.enqueue(job(name, name, "hooks"));
  lanes.enqueue(job("c1", "c1", "cron"));

  expect(begun).toEqual(["m1", "h1", "h2", "c1"]);
});

test("programs never take the last of several places, people take all", async () => {
  for (const [places, started] of [
    [4, ["p1", "p2", "p3", "m1"]],
    [1, ["p1"]],
  ] as const) {
    const lanes = new Lanes(() => places);
    const { begun, job } = createJobs();
    for (const name of ["p1", "p2", "p3", "p4"]) lanes.enqueue({ ...job(name, name), isProgram: true });
    for (const name of ["m1", "m2"]) lanes.enqueue(job(name, name));
    expect(begun).toEqual(started);
  }
});

test("a job that waits for a place is told its position, and each step near the front", async () => {
  const lanes = new Lanes(() => 1);
  const { job, end } = createJobs();
  const told: string[] = [];
  const names = Array.from({ length: 13 }, (_, i) => `j${i}`);
  for (const name of names) lanes.enqueue({ ...job(name, name), onWait: (position) => told.push(`${name} ${position}`) });
  // Behind its own session's job it waits for that one, not for a place.
  lanes.enqueue({ ...job("j0", "own"), onWait: (position) => told.push(`own ${position}`) });
  expect(told).toEqual(names.slice(1).map((name, i) => `${name} ${i + 1}`));

  told.length = 0;
  await end("j0");
  expect(told).toEqual([...names.slice(2, 12).map((name, i) => `${name} ${i + 1}`), "own 12"]);
});
