import type { SessionRow } from "svc/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expiryOf, lastDailyReset, resetRuleOf } from "./expiry.ts";
import { newSession } from "./row.ts";

const zone = process.env.TZ;

beforeEach(() => {
  process.env.TZ = "Europe/Berlin";
});
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const at = (text: string): number => Date.parse(text);

describe("the start of a day for sessions", () => {
  test.each([
    ["at the hour", "2026-05-10T04:00:00+02:00", "2026-05-10T04:00:00+02:00"],
    ["a moment before it: the one of yesterday", "2026-05-10T03:59:59.999+02:00", "2026-05-09T04:00:00+02:00"],
    ["late in the evening", "2026-05-10T23:30:00+02:00", "2026-05-10T04:00:00+02:00"],
    ["on the day on which the clocks went forward", "2026-03-29T12:00:00+02:00", "2026-03-29T04:00:00+02:00"],
    ["in the night in which the clocks go back", "2026-10-25T03:00:00+01:00", "2026-10-24T04:00:00+02:00"],
  ])("%s", (_name, now, expected) => {
    expect(new Date(lastDailyReset(at(now), 4))).toEqual(new Date(at(expected)));
  });

  test("an hour that a day does not have is the next one", () => {
    expect(lastDailyReset(at("2026-03-29T12:00:00+02:00"), 2)).toBe(at("2026-03-29T03:00:00+02:00"));
  });
});

describe("a transcript expires", () => {
  const startedAt = at("2026-05-09T20:00:00+02:00");
  const usedAt = at("2026-05-10T03:55:00+02:00");
  const row = (change: Partial<SessionRow> = {}): SessionRow => ({
    ...newSession("agent:main:main", "main", startedAt),
    lastInteractionAt: usedAt,
    lastActivityAt: usedAt,
    ...change,
  });
  const daily = { mode: "daily", atHour: 4 } as const;

  test("at the hour, not before it", () => {
    expect(expiryOf(daily, row(), at("2026-05-10T03:59:59.999+02:00"))).toBeUndefined();
    expect(expiryOf(daily, row(), at("2026-05-10T04:00:00+02:00"))).toBe("daily");
    expect(expiryOf(daily, row({ sessionStartedAt: at("2026-05-10T04:00:00+02:00") }), at("2026-05-10T20:00:00+02:00"))).toBeUndefined();
  });

  test("after more than the minutes of silence", () => {
    const idle = { mode: "idle", atHour: 4, idleMinutes: 30 } as const;
    expect(expiryOf(idle, row(), usedAt + 30 * 60_000)).toBeUndefined();
    expect(expiryOf(idle, row(), usedAt + 30 * 60_000 + 1)).toBe("idle");
  });

  test("by whichever comes first, when both are set", () => {
    const both = { ...daily, idleMinutes: 10 } as const;
    expect(expiryOf(both, row(), at("2026-05-10T04:00:00+02:00"))).toBe("daily");
    expect(expiryOf(both, row({ sessionStartedAt: usedAt, lastInteractionAt: usedAt - 600_001 }), usedAt)).toBe("idle");
  });

  test("by silence of people: what an agent does by itself does not count", () => {
    const idle = { mode: "idle", atHour: 4, idleMinutes: 30 } as const;
    expect(expiryOf(idle, row({ lastActivityAt: usedAt + 1_800_000 }), usedAt + 1_800_001)).toBe("idle");
    const { lastInteractionAt: _, ...unattended } = row({ lastActivityAt: usedAt + 1_800_000 });
    expect(expiryOf(idle, unattended, usedAt + 1_800_001)).toBeUndefined();
  });

  test("never, with mode none, with idle without minutes, and as long as it is empty", () => {
    const late = usedAt + 365 * 86_400_000;
    expect(expiryOf({ mode: "none", atHour: 4, idleMinutes: 1 }, row(), late)).toBeUndefined();
    expect(expiryOf({ mode: "idle", atHour: 4, idleMinutes: undefined }, row(), late)).toBeUndefined();
    expect(expiryOf(daily, newSession("agent:main:main", "main", startedAt), late)).toBeUndefined();
  });
});

test("a channel's rule wins over that of the type of chat, and that over the general one, field by field", () => {
  const config = {
    reset: { mode: "daily" as const, atHour: 4, idleMinutes: 60 },
    resetByType: { group: { idleMinutes: 120 }, thread: { mode: "none" as const } },
    resetByChannel: { irc: { atHour: 6 } },
  };
  const rule = (key: string) => resetRuleOf(config, newSession(key, "main", 0));

  expect(rule("agent:main:main")).toEqual({ mode: "daily", atHour: 4, idleMinutes: 60 });
  expect(rule("agent:main:xmpp:group:room")).toEqual({ mode: "daily", atHour: 4, idleMinutes: 120 });
  expect(rule("agent:main:irc:channel:room")).toEqual({ mode: "daily", atHour: 6, idleMinutes: 120 });
  expect(rule("agent:main:irc:group:room:thread:t1")).toEqual({ mode: "none", atHour: 6, idleMinutes: 60 });
});
