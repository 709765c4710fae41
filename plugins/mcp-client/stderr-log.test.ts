import { expect, test } from "vitest";
import { createStderrLog } from "./stderr-log.ts";

test("lines come whole, clean and without secrets, and the last ones are remembered", () => {
  const lines: string[] = [];
  const log = createStderrLog((line) => lines.push(line), ["hunter2"]);
  log.add("start");
  log.add("ed\n\u001b[31mkey is hunter2\n\nlast ");
  log.add("words");
  expect(lines).toEqual(["started", "[31mkey is ***"]);
  expect(log.lastOutput()).toBe("started / [31mkey is *** / last words");
});

test("fifty lines are logged, and a line without an end takes no room", () => {
  const lines: string[] = [];
  const log = createStderrLog((line) => lines.push(line), []);
  log.add("x\n".repeat(5_000));
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toContain("not logged");
  for (let i = 0; i < 100; i++) log.add("y".repeat(10_000));
  expect(log.lastOutput().length).toBeLessThan(1_000);
});
