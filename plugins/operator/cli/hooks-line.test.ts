import { expect, test } from "vitest";
import { hooksLine } from "./hooks-line.ts";

const none = { accepted: 0, running: 0, failed: 0, expired: 0 };

test.each([
  ["no plugin", undefined, undefined],
  ["off", { enabled: false, ...none }, undefined],
  ["off, with rows of an earlier time", { enabled: false, ...none, failed: 2 }, "off, 2 failed"],
  ["on", { enabled: true, path: "/hooks", mappings: 1, ...none }, "/hooks, 1 mapping"],
  [
    "on, with work",
    { enabled: true, path: "/in", mappings: 3, accepted: 2, running: 1, failed: 1, expired: 4 },
    "/in, 3 mappings, 3 waiting, 1 failed, 4 expired",
  ],
  ["on, and nobody answers", { enabled: true, ...none }, "not open, 0 mappings"],
])("hooks: %s", (_name, hooks, line) => {
  expect(hooksLine(hooks)).toBe(line);
});
