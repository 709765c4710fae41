import type { SvcConfigInput } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { isActive } from "./active-hours.ts";
import { asksForNothing } from "./checklist.ts";
import { formatInterval, resolveHeartbeat } from "./settings.ts";
import { toSystemLines } from "./system-lines.ts";

describe("active hours", () => {
  const at = (time: string) => Date.parse(`2026-03-01T${time}:00Z`);
  const within = (start: string, end: string, time: string, timezone = "UTC") => isActive({ start, end, timezone }, at(time));

  test.each([
    ["08:00", "22:00", "07:59", false],
    ["08:00", "22:00", "08:00", true],
    ["08:00", "22:00", "21:59", true],
    ["08:00", "22:00", "22:00", false],
    ["00:00", "24:00", "00:00", true],
    ["00:00", "24:00", "23:59", true],
    ["20:00", "24:00", "23:59", true],
    ["20:00", "24:00", "00:00", false],
    ["22:00", "06:00", "23:00", true],
    ["22:00", "06:00", "05:59", true],
    ["22:00", "06:00", "06:00", false],
    ["09:00", "09:00", "09:00", false],
    ["09:00", "09:00", "12:00", false],
  ])("from %s to %s at %s: %s", (start, end, time, expected) => {
    expect(within(start, end, time)).toBe(expected);
  });

  test("count in their own time zone", () => {
    expect(within("08:00", "22:00", "23:30", "Asia/Tokyo")).toBe(true);
    expect(within("08:00", "22:00", "12:00", "Asia/Tokyo")).toBe(true);
    expect(within("08:00", "22:00", "14:00", "Asia/Tokyo")).toBe(false);
    expect(within("00:00", "01:00", "18:15", "Asia/Kathmandu")).toBe(true);
  });

  test("are all day when none are set", () => {
    expect(isActive(undefined, at("03:00"))).toBe(true);
  });
});

describe("a checklist", () => {
  test.each([
    ["", true],
    ["\n \n\t\n", true],
    ["# Checks\n\n## Daily\n", true],
    ["<!-- one per\nline -->\n", true],
    ["- \n* \n1.\n- [ ]\n---\n", true],
    ["# Checks\n- water the plants", false],
    ["- [ ] water the plants", false],
    ["<!-- a --> water", false],
    ["#hashtag", false],
  ])("%j asks for nothing: %s", (text, blank) => {
    expect(asksForNothing(text)).toBe(blank);
  });
});

describe("the settings of an agent", () => {
  const settings = (agents: SvcConfigInput["agents"], id = "main") => resolveHeartbeat(parseSharedConfig(agents ? { agents } : {}), id);

  test("are the documented ones where none are written, and the same for an empty block", () => {
    const expected = {
      enabled: true,
      everyMs: 1_800_000,
      target: "none",
      prompt: expect.any(String),
      session: "main",
      ackMaxChars: 300,
      lightContext: false,
      isolatedSession: false,
    };
    expect(settings(undefined)).toEqual(expected);
    expect(settings({ defaults: { heartbeat: {} } })).toEqual(expected);
    expect(settings({ list: [{ id: "main", heartbeat: {} }] })).toEqual(expected);
  });

  test("are the agent's own over those of the defaults, key by key", () => {
    const agents = {
      defaults: { heartbeat: { every: "1h", target: "last", activeHours: { start: "08:00", end: "20:00" } } },
      list: [{ id: "main", heartbeat: { every: 5, to: "#ops", accountId: "a", model: "x/y", prompt: "p", timeoutSeconds: 9 } }],
    };
    expect(settings(agents)).toMatchObject({
      everyMs: 300_000,
      target: "last",
      activeHours: { start: "08:00", end: "20:00" },
      to: "#ops",
      accountId: "a",
      model: "x/y",
      prompt: "p",
      timeoutMs: 9_000,
    });
  });

  test("are off with every 0, and for an agent without a block where another has one", () => {
    expect(settings({ defaults: { heartbeat: { every: "0m" } } }).enabled).toBe(false);
    const list = [{ id: "main" }, { id: "watch", heartbeat: {} }];
    expect(settings({ list }).enabled).toBe(false);
    expect(settings({ list }, "watch").enabled).toBe(true);
  });
});

test.each([
  [0, "0m"],
  [1_800_000, "30m"],
  [5_400_000, "1h30m"],
  [90_000, "1m30s"],
  [86_400_000, "1d"],
  [1_500, "1s500ms"],
])("an interval of %i ms reads %s", (ms, text) => {
  expect(formatInterval(ms)).toBe(text);
});

test("every line of an event says that it comes from the system; a long one is cut in the middle", () => {
  expect(toSystemLines([{ text: " one\r\n\ntwo " }, { text: "three" }])).toBe("System: one\nSystem:\nSystem: two\nSystem: three");
  expect(toSystemLines([{ text: "a\rb\u2028c\u2029d\u0085e" }])).toBe("System: a\nSystem: b\nSystem: c\nSystem: d\nSystem: e");
  const long = toSystemLines([{ text: "x".repeat(32_000) }]);
  expect(long.length).toBeLessThan(17_000);
  expect(long).toContain("characters left out");
});
