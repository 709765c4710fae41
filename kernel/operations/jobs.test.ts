import { expect, test } from "vitest";
import { createJobs } from "./jobs.ts";

function setup() {
  let now = 0;
  const lines: string[] = [];
  const say = (message: string) => void lines.push(message);
  const logger = { trace: say, debug: say, info: say, warn: say, error: say, child: () => logger };
  const started: Array<{ fn: () => void; stopped: boolean }> = [];
  const timers = {
    setInterval(fn: () => void) {
      started.push({ fn, stopped: false });
      return started.length - 1;
    },
    clearInterval(timer: unknown) {
      const entry = started[timer as number];
      if (entry) entry.stopped = true;
    },
  };
  const jobs = createJobs({ logger, now: () => now, timers });
  return { jobs, lines, started, pass: (ms: number) => (now += ms) };
}

test("each job has the age of its last run", () => {
  const { jobs, started, pass } = setup();
  jobs.every("tick", 1_000, () => undefined);
  pass(700);
  expect(jobs.look().figures).toEqual({ tick: { intervalMs: 1_000, lastRanAgeMs: 700 } });
  started[0]?.fn();
  pass(10);
  expect(jobs.look().figures).toEqual({ tick: { intervalMs: 1_000, lastRanAgeMs: 10 } });
});

test("one whose timer died is not well at three periods and one millisecond, runs at once and goes on", () => {
  const { jobs, lines, started, pass } = setup();
  let runs = 0;
  jobs.every("tick", 1_000, () => (runs += 1));
  pass(3_000);
  expect(jobs.look().part).toMatchObject({ ok: true });
  pass(1);
  const message = "tick had not run for 3 s and was started again";
  expect(jobs.look().part).toMatchObject({ part: "jobs", ok: false, message });
  expect(lines).toEqual([`periodic job ${message}`]);
  expect(runs).toBe(1);
  expect(started.map((t) => t.stopped)).toEqual([true, false]);
  expect(jobs.look()).toMatchObject({ part: { ok: true }, figures: { tick: { lastRanAgeMs: 0, revived: 1 } } });
});

test("a job that throws is logged and stays", () => {
  const { jobs, lines, started } = setup();
  jobs.every("tick", 1_000, () => {
    throw new Error("no");
  });
  started[0]?.fn();
  expect(lines).toEqual(["periodic job tick failed"]);
  expect(started[0]?.stopped).toBe(false);
});

test("a job of somebody else is looked after too; one with nothing to do is not shown", () => {
  const { jobs } = setup();
  let age: number | undefined;
  jobs.add("poll", { intervalMs: 5, lastRanAgeMs: () => age, revive: () => (age ?? 0) > 15 });
  expect(jobs.look().figures).toEqual({});
  age = 16;
  expect(jobs.look().part).toMatchObject({ ok: false });
});

test("nothing runs after the end", () => {
  const { jobs, started } = setup();
  jobs.every("tick", 1_000, () => undefined);
  jobs.dispose();
  expect(started[0]?.stopped).toBe(true);
  expect(jobs.look().figures).toEqual({});
});
