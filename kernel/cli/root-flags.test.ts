import { describe, expect, it } from "vitest";
import { commonErrors } from "../../sdk/errors.ts";
import { takeRootFlags } from "./root-flags.ts";

const none = { profile: undefined, logLevel: undefined, color: true, json: false, help: false, version: false };

describe("takeRootFlags", () => {
  it("takes them from before and after the command and leaves the rest in order", () => {
    expect(takeRootFlags(["--profile", "work", "gateway", "--port", "1", "--json", "status", "--no-color"])).toEqual({
      flags: { ...none, profile: "work", json: true, color: false },
      rest: ["gateway", "--port", "1", "status"],
    });
  });

  it.each([
    [["--dev"], { profile: "dev" }],
    [["--profile=a=b"], { profile: "a=b" }],
    [["--log-level", "debug"], { logLevel: "debug" }],
    [["--log-level=silent"], { logLevel: "silent" }],
    [["-h"], { help: true }],
    [["--help"], { help: true }],
    [["-V"], { version: true }],
  ])("%j", (argv, flags) => expect(takeRootFlags(argv)).toEqual({ flags: { ...none, ...flags }, rest: [] }));

  it("touches nothing behind --", () => {
    expect(takeRootFlags(["agent", "--", "--json", "--dev"])).toEqual({ flags: none, rest: ["agent", "--", "--json", "--dev"] });
  });

  it.each([
    [["--profile"], "--profile: expected a value"],
    [["--profile="], "--profile: expected a value"],
    [["--log-level", "loud"], '--log-level: expected one of trace, debug, info, warn, error, silent, got "loud"'],
  ])("refuses %j", (argv, message) => {
    expect(() => takeRootFlags(argv)).toThrow(commonErrors.usage({ message }));
  });
});
