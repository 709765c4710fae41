import { describe, expect, it } from "vitest";
import type { CliCommand } from "../../sdk/types/cli.ts";
import { parseCommand } from "./parse-command.ts";

const command: CliCommand = {
  path: ["demo"],
  summary: "",
  positionals: [
    { name: "first", required: true },
    { name: "more", required: false, rest: true },
  ],
  options: {
    message: { kind: "string", short: "m", description: "" },
    count: { kind: "integer", description: "", min: 1 },
    header: { kind: "string", description: "", repeats: true },
    quick: { kind: "flag", short: "q", description: "" },
    "no-open": { kind: "flag", description: "" },
  },
  run: async () => 0,
};
const parse = (...args: string[]) => {
  const { values, positionals } = parseCommand(command, args);
  return { values, positionals };
};

describe("parseCommand", () => {
  it("refuses more positionals than the command has", () => {
    const { positionals: _, ...alone } = command;
    expect(() => parseCommand({ ...alone, positionals: [] }, ["a"])).toThrow('demo: extraneous positional argument ("a")');
  });

  it("reads flags, values and positionals wherever they stand", () => {
    expect(parse("a", "-m", "hi", "--count=3", "b", "-q", "c", "--no-open")).toEqual({
      values: { message: "hi", count: 3, quick: true, "no-open": true },
      positionals: ["a", "b", "c"],
    });
  });

  it("leaves out what was not given", () => {
    expect(parse("a")).toEqual({ values: { message: undefined, count: undefined, quick: false, "no-open": false }, positionals: ["a"] });
  });

  it("keeps all values of an option that may be repeated, a line each, and the last of any other", () => {
    expect(parse("a", "--header", "x=1", "-m", "one", "--header=y=2", "-m", "two").values).toMatchObject({
      header: "x=1\ny=2",
      message: "two",
    });
  });

  it("takes everything behind -- as it is", () => {
    expect(parse("--", "--message", "-q").positionals).toEqual(["--message", "-q"]);
  });

  it("takes a flag back, the last of two values, and a value that begins with a dash behind =", () => {
    expect(parse("a", "-q", "--no-quick", "-m", "x", "--message=-y").values).toMatchObject({ quick: false, message: "-y" });
  });

  it("takes the value of an option whose name has digits behind = too", () => {
    const options = { "s3-bucket": { kind: "string", description: "" }, ipv6: { kind: "flag", description: "" } } as const;
    const read = (...args: string[]) => parseCommand({ ...command, options }, ["a", ...args]).values;
    expect(read("--s3-bucket=b", "--ipv6")).toEqual({ "s3-bucket": "b", ipv6: true });
    expect(read("--s3-bucket", "b", "--ipv6", "--no-ipv6")).toEqual({ "s3-bucket": "b", ipv6: false });
  });

  it("takes a value glued to a short name, or behind = of it", () => {
    expect(parse("a", "-mhi").values).toMatchObject({ message: "hi" });
    expect(parse("a", "-m=-y").values).toMatchObject({ message: "-y" });
  });

  it("gives optional positionals in front of a rest their place", () => {
    const positionals = [
      { name: "first", required: true },
      { name: "second", required: false },
      { name: "more", required: false, rest: true },
    ];
    const read = (...args: string[]) => parseCommand({ ...command, positionals }, args).positionals;
    expect([read("a"), read("a", "b"), read("a", "b", "c", "d")]).toEqual([["a"], ["a", "b"], ["a", "b", "c", "d"]]);
  });

  it("takes a number below zero as a value", () => {
    expect(parse("-1", "--message", "-.5")).toMatchObject({ positionals: ["-1"], values: { message: "-.5" } });
  });

  it("adds the connection flags to commands that ask for them", () => {
    const values = parseCommand({ ...command, rpc: true }, ["a", "--port", "18789", "--token", "t", "--timeout", "5"]).values;
    expect(values).toMatchObject({ port: 18_789, token: "t", timeout: 5, url: undefined });
  });

  it.each([
    [[], "demo: expected <"],
    [["a", "--cuont", "1"], "demo: unknown flag --cuont; did you mean --count?"],
    [["a", "--weather"], "demo: unknown flag --weather"],
    [["a", "--count"], "demo: not enough arguments"],
    [["a", "--message", "-q"], "demo: not enough arguments to option --message"],
    [["a", "--weather=1"], "demo: unknown flag --weather"],
    [["a", "-x"], "demo: unknown flag -x"],
    [["a", "--quick=yes"], 'demo: --quick takes no value, got "yes"'],
    [["a", "--no-message"], "demo: unknown flag --no-message"],
    [["a", "--count", "0"], '--count: expected an integer, at least 1, got "0"'],
  ])("refuses %j in words that name the flag", (args, message) => {
    expect(() => parseCommand(command, args)).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining(message) as string }),
    );
  });
});

describe("a parsed command", () => {
  it("runs with what was read, and its number is the result", async () => {
    const run: CliCommand["run"] = async (context, values, positionals) => {
      expect([context, values.message, positionals]).toEqual([{ any: "context" }, "hi", ["a"]]);
      return 3;
    };
    expect(await parseCommand({ ...command, run }, ["a", "-m", "hi"]).run({ any: "context" } as never)).toBe(3);
  });

  it("passes on what the command throws", async () => {
    const run = () => Promise.reject(new TypeError("a bug"));
    await expect(parseCommand({ ...command, run }, ["a"]).run({} as never)).rejects.toThrow(TypeError);
  });
});
