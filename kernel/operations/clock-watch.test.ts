import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readNotices } from "../../sdk/internal/files/notices.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { createClockWatch } from "./clock-watch.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = 1_767_225_600_000;

async function watch() {
  const stateDir = await mkdtemp(join(tmpdir(), "svc-clock-"));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true, maxRetries: 10 }));
  const clock = { wall: START, mono: 0, now: () => clock.wall, monotonic: () => clock.mono };
  const said: string[] = [];
  const say = (level: string) => (message: string) => void said.push(`${level}: ${message}`);
  const logger = { info: say("info"), warn: say("warn"), error: say("error") } as unknown as Parameters<
    typeof createClockWatch
  >[0]["logger"];
  const watched = createClockWatch({ clock, stateDir, logger, refresh: () => undefined });
  const after = (wallMs: number, monotonicMs = 30_000) => {
    clock.wall += wallMs;
    clock.mono += monotonicMs;
    watched.look();
    return said.splice(0);
  };
  return { after, parts: watched.parts, notices: () => readNotices(stateDir, START) };
}

test("a clock that goes on, slews or is set by a day is nobody's problem", async () => {
  const { after, parts } = await watch();
  for (const wallMs of [30_000, 30_500, DAY + 30_000, 30_000 - DAY]) expect(after(wallMs)).toEqual([]);
  expect(parts()).toEqual([]);
});

test("a year ahead is told once in the log, in health and as a notice, until the clock is set back", async () => {
  const { after, parts, notices } = await watch();
  const told = "the clock of the system went forward by 365 days at once, to 2027-01-01";
  expect(after(365 * DAY)).toEqual([expect.stringContaining(`error: ${told}`)]);
  expect(after(30_000)).toEqual([]);
  expect(parts()).toMatchObject([{ part: "clock", ok: false, message: expect.stringContaining(told) }]);
  await eventually(
    async () => expect(await notices()).toMatchObject([{ id: "clock/jump", fix: expect.stringContaining("set-ntp") }]) ?? true,
  );

  expect(after(-365 * DAY)).toEqual(["info: the clock of the system is right again"]);
  expect(parts()).toEqual([]);
  await eventually(async () => (await notices()).length === 0);
});

test("a clock that goes back by more than a day is told as well, and after a day only by the notice", async () => {
  const { after, parts, notices } = await watch();
  expect(after(-2 * DAY)).toEqual([expect.stringContaining("went back by 2 days")]);
  await eventually(async () => (await notices()).length === 1);
  expect(after(DAY + HOUR, DAY + HOUR)).toEqual([]);
  expect(parts()).toEqual([]);
  expect(await notices()).toHaveLength(1);
});
