import { describe, expect, test } from "vitest";
import { createDeprecations, type Deprecation, deprecations } from "./deprecations.ts";

const old: Deprecation = { code: "SVC_DEP0001", what: "ctx.say", replacement: "ctx.logger", since: "1.4.0", removedIn: "2.0.0" };

function plugin(id: string) {
  const lines: unknown[] = [];
  const diagnostics: Array<{ code: string; message: string }> = [];
  return { id, lines, diagnostics, logger: { warn: (...line: unknown[]) => void lines.push(line) } };
}

describe("a deprecation", () => {
  test("is told once to each plugin that uses it, with its code, its replacement and the version it goes with", () => {
    const registry = createDeprecations([old]);
    const [a, b] = [plugin("a"), plugin("b")];

    for (const one of [a, a, b]) registry.warn(one, "SVC_DEP0001");

    const text = "ctx.say is deprecated since plugin API 1.4.0 and goes with 2.0.0; use ctx.logger";
    expect(a.lines).toEqual([[text, { code: "SVC_DEP0001", plugin: "a" }]]);
    expect(a.diagnostics).toEqual([{ code: "SVC_DEP0001", message: text }]);
    expect(b.lines).toHaveLength(1);
  });

  test("is listed with who uses it", () => {
    const registry = createDeprecations([old, { ...old, code: "SVC_DEP0002" }]);
    const a = plugin("a");

    for (const code of ["SVC_DEP0002", "SVC_DEP0001"]) registry.warn(a, code);

    expect(registry.used()).toEqual(new Map([["a", ["SVC_DEP0001", "SVC_DEP0002"]]]));
  });

  test("that nobody wrote down cannot be warned about", () => {
    expect(() => createDeprecations([old]).warn(plugin("a"), "SVC_DEP0009")).toThrow("SVC_DEP0009 is not in the registry");
  });
});

test.each<[string, Deprecation[], string]>([
  ["a code of another form", [{ ...old, code: "DEP1" }], "expected a code such as SVC_DEP0001"],
  ["a code that stands twice", [old, old], "listed twice"],
  ["a removal within its major version", [{ ...old, removedIn: "1.9.0" }], "removed in a later major version"],
])("%s is refused", (_name, list, message) => {
  expect(() => createDeprecations(list)).toThrow(message);
});

test("the registry of the SDK is in order", () => {
  expect(deprecations.list.map((d) => d.code)).toEqual([...deprecations.list.map((d) => d.code)].sort());
});
