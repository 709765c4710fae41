import { describe, expect, test } from "vitest";
import { parseManifest, satisfies } from "./manifest.ts";

const good = { id: "demo", version: "1.2.3", svc: { api: "^1.0.0" } };

test("three fields make a manifest", () => {
  expect(parseManifest(good)).toEqual({ ok: true, manifest: good });
});

describe("a manifest is refused with the field that is wrong when", () => {
  test.each([
    ["it is no object", [], "expected object"],
    ["it has no id", { ...good, id: undefined }, "at id: "],
    ["its id has capitals", { ...good, id: "Demo" }, "at id: expected 2 to 48 lower-case letters"],
    ["its id is a path", { ...good, id: "../x" }, "at id: "],
    ["its id is one letter", { ...good, id: "a" }, "at id: "],
    ["its id has 49 characters", { ...good, id: "a".repeat(49) }, "at id: "],
    ["its version is none", { ...good, version: "1" }, "at version: "],
    ["it does not say which API it needs", { id: "demo", version: "1.0.0" }, "at svc: "],
    ["it has a key nobody knows", { ...good, permision: [] }, "unexpected property 'permision'"],
    ["it asks for an unknown permission", { ...good, permissions: ["root"] }, "at permissions.0: "],
    ["it contributes an unknown kind", { ...good, contributes: { tool: ["x"] } }, "at contributes: unexpected property 'tool'"],
  ])("%s", (_, value, reason) => {
    expect(parseManifest(value)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});

test.each([
  ["1.0.0", "^1.0.0", true],
  ["1.9.9", "^1.0.0", true],
  ["2.0.0", "^1.0.0", false],
  ["1.0.0", "^1.1.0", false],
  ["1.1.5", "~1.1.0", true],
  ["1.2.0", "~1.1.0", false],
  ["3.0.0", ">=1.0.0", true],
  ["0.9.0", ">=1.0.0", false],
  ["1.2.3", "1.2.3", true],
  ["1.2.4", "1.2.3", false],
  ["1.2.3", " * ", true],
  ["1.2.3", "latest", false],
  ["1.2.3", "", false],
])("version %s satisfies %j: %s", (version, range, satisfied) => {
  expect(satisfies(version, range)).toBe(satisfied);
});
