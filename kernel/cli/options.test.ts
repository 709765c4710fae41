import { describe, expect, it } from "vitest";
import type { CliOption } from "../../sdk/types/cli.ts";
import { optionsOf, optionValue, rpcOptions } from "./options.ts";

const port: CliOption = { kind: "integer", description: "", min: 1, max: 65_535 };

describe("optionValue", () => {
  it.each([
    [port, "1", 1],
    [port, "65535", 65_535],
    [{ kind: "number", description: "" }, "0.5", 0.5],
    [{ kind: "number", description: "" }, "-1e3", -1000],
    [{ kind: "string", description: "", choices: ["a", "b"] }, "b", "b"],
    [{ kind: "string", description: "" }, "", ""],
    [{ kind: "string", description: "" }, undefined, undefined],
    [{ kind: "flag", description: "" }, true, true],
    [{ kind: "flag", description: "" }, undefined, false],
  ] as Array<[CliOption, unknown, unknown]>)("%j reads %j as %j", (option, typed, value) => {
    expect(optionValue("x", option, typed)).toBe(value);
  });

  it.each([
    [port, "0", 'expected an integer from 1 to 65535, got "0"'],
    [port, "65536", 'expected an integer from 1 to 65535, got "65536"'],
    [port, "1.5", 'expected an integer from 1 to 65535, got "1.5"'],
    [port, " ", 'expected an integer from 1 to 65535, got " "'],
    [{ kind: "integer", description: "", min: 0 }, "-1", 'expected an integer, at least 0, got "-1"'],
    [{ kind: "number", description: "", max: 1 }, "2", 'expected a number, at most 1, got "2"'],
    [{ kind: "number", description: "" }, "NaN", 'expected a number, got "NaN"'],
    [{ kind: "string", description: "", choices: ["a", "b"] }, "c", 'expected one of a, b, got "c"'],
  ] as Array<[CliOption, string, string]>)("%j refuses %j", (option, typed, message) => {
    expect(() => optionValue("x", option, typed)).toThrow(`--x: ${message}`);
  });
});

it("a command's own option of a common name wins", () => {
  const timeout: CliOption = { kind: "integer", description: "seconds" };
  const own = { path: ["a"], summary: "", rpc: true, options: { timeout }, run: async () => 0 };
  expect(optionsOf(own)).toEqual({ ...rpcOptions, timeout });
  expect(optionsOf({ ...own, rpc: false })).toEqual({ timeout });
});
