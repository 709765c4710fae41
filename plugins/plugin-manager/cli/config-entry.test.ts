import { expect, test } from "vitest";
import { entryOf } from "../install/entry.ts";
import { withEntry } from "./config-entry.ts";

test("an entry is made where there was none", () => {
  expect(withEntry({}, "demo", { enabled: true })).toEqual({ plugins: { entries: { demo: { enabled: true } } } });
  expect(withEntry(undefined, "demo", { enabled: true, grants: ["net"] })).toEqual({
    plugins: { entries: { demo: { enabled: true, grants: ["net"] } } },
  });
});

test("the rest of an entry, and of the config, stays as it is", () => {
  const source = {
    gateway: { port: 1 },
    plugins: { deny: ["x"], entries: { a: { enabled: false }, demo: { config: { n: 1 }, enabled: false } } },
  };
  expect(withEntry(source, "demo", { enabled: true })).toEqual({
    gateway: { port: 1 },
    plugins: { deny: ["x"], entries: { a: { enabled: false }, demo: { config: { n: 1 }, enabled: true } } },
  });
  expect(withEntry(source, "demo", null)).toEqual({ gateway: { port: 1 }, plugins: { deny: ["x"], entries: { a: { enabled: false } } } });
});

test("nothing changes when an entry that is not there is removed", () => {
  const source = { gateway: {} };
  expect(withEntry(source, "demo", null)).toBe(source);
});

test("an entry is found by its own key only", () => {
  const config = { plugins: { entries: { demo: { grants: ["net"] } } } };
  expect(entryOf(config, "demo")).toEqual({ grants: ["net"] });
  expect(entryOf(config, "constructor")).toBeUndefined();
  expect(entryOf(undefined, "demo")).toBeUndefined();
});
