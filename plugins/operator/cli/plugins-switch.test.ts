import { expect, test } from "vitest";
import { withEnabled } from "./plugins-switch.ts";

test.each([
  [undefined, { plugins: { entries: { irc: { enabled: true } } } }],
  [{ gateway: { port: 1 } }, { gateway: { port: 1 }, plugins: { entries: { irc: { enabled: true } } } }],
  [
    { plugins: { deny: ["x"], entries: { other: {}, irc: { enabled: false, config: { a: 1 } } } } },
    { plugins: { deny: ["x"], entries: { other: {}, irc: { enabled: true, config: { a: 1 } } } } },
  ],
])("switching a plugin on in %j leaves everything else as it is", (source, expected) => {
  expect(withEnabled(source, "irc", true)).toEqual(expected);
});
