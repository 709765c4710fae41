import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRefusedConnections, judgeDescriptors } from "./refused-connections.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function setup(figures: { limit: number; open: number } | undefined = { limit: 4_096, open: 100 }) {
  const time = { now: 0 };
  const lines: string[] = [];
  const logger = { warn: (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`) };
  const refused = createRefusedConnections({ logger, monotonic: () => time.now, figures: () => figures });
  const pass = (ms: number) => {
    time.now += ms;
    vi.advanceTimersByTime(ms);
  };
  return { refused, lines, pass };
}

test.each([
  [{ limit: 4_096, open: 100 }, undefined, ""],
  [{ limit: 1_024, open: 960 }, undefined, ""],
  [{ limit: 1_023, open: 100 }, "warn", "about 859 connections fit"],
  [{ limit: 1_024, open: 961 }, "error", "WebSocket connections (the page, most commands) are refused"],
  [{ limit: 64, open: 33 }, "error", "every connection is refused"],
  [{ limit: 64, open: 70 }, "error", "every connection is refused"],
])("with %j: %s %s", (figures, level, effect) => {
  const judged = judgeDescriptors(figures);
  expect(judged?.level).toBe(level);
  if (judged) expect(judged.message).toContain(effect);
  if (judged) expect(judged.message).toContain(`${figures.limit} may be open in this process and ${figures.open} are`);
});

test("a refused connection is logged at once, and those after it once a minute, all of them counted", () => {
  const { refused, lines, pass } = setup();
  for (let i = 0; i < 1_000; i++) refused.count();
  expect(lines).toEqual([expect.stringMatching(/^a connection was refused .*"total":1/)]);
  pass(60_000);
  expect(lines[1]).toMatch(/^999 connections were refused .*"total":1000/);
  pass(60_000);
  expect(lines).toHaveLength(2);
  refused.count();
  expect(lines[2]).toMatch(/^a connection was refused .*"total":1001/);
  refused.dispose();
});

test("health shows the count, and is not well for five minutes after a refusal", () => {
  const { refused, pass } = setup();
  expect(refused.part()).toEqual({ part: "connections", ok: true, value: { refused: 0, descriptorLimit: 4_096 } });
  refused.count();
  expect(refused.part()).toMatchObject({ ok: false, value: { refused: 1 }, message: expect.stringContaining("connections were refused") });
  pass(300_000);
  expect(refused.part()).toMatchObject({ ok: true, value: { refused: 1 } });
  refused.dispose();
});

test("health is not well while the limit leaves no room, and a system without figures sets none", () => {
  expect(setup({ limit: 64, open: 60 }).refused.part()).toMatchObject({
    ok: false,
    message: expect.stringContaining("descriptor limit: 64"),
  });
  const { refused } = setup(undefined);
  const unknown = createRefusedConnections({ logger: { warn: () => undefined }, monotonic: () => 0, figures: () => undefined });
  expect(unknown.part()).toEqual({ part: "connections", ok: true, value: { refused: 0 } });
  refused.dispose();
});
