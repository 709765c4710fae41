import { describe, expect, it } from "vitest";
import { createOutput } from "../../sdk/cli/output.ts";
import { createColor } from "./output.ts";

function streams(json: boolean, isTTY = false) {
  const written = { out: "", err: "" };
  const output = createOutput({
    stdout: { write: (text) => (written.out += text), isTTY },
    stderr: { write: (text) => (written.err += text) },
    json,
  });
  return { written, ...output };
}

describe("with --json", () => {
  it("stdout holds exactly one document, whatever the command says besides", () => {
    const { written, stdout } = streams(true);
    stdout.line("human");
    stdout.json({ a: 1 });
    stdout.json({ b: 2 });
    expect(JSON.parse(written.out)).toEqual({ a: 1 });
    expect(written.err).toBe("human\n");
  });

  it("what is followed comes as one document per line", () => {
    const { written, stdout } = streams(true);
    stdout.jsonLine({ a: [1] });
    stdout.jsonLine({ b: 2 });
    expect(written).toEqual({ out: '{"a":[1]}\n{"b":2}\n', err: "" });
  });

  it("stdout counts as no terminal, so that nothing is drawn on it", () => {
    expect(streams(true, true).stdout.isTTY).toBe(false);
    expect(streams(false, true).stdout.isTTY).toBe(true);
  });
});

it("without it text goes where it says", () => {
  const { written, stdout, stderr } = streams(false);
  stdout.write("a");
  stdout.line("b");
  stderr.line();
  expect(written).toEqual({ out: "ab\n", err: "\n" });
});

it.each([
  [{ flag: true, env: {}, isTTY: true }, true],
  [{ flag: true, env: {}, isTTY: false }, false],
  [{ flag: false, env: {}, isTTY: true }, false],
  [{ flag: true, env: { NO_COLOR: "1" }, isTTY: true }, false],
  [{ flag: true, env: { FORCE_COLOR: "1" }, isTTY: false }, true],
  [{ flag: true, env: { FORCE_COLOR: "0" }, isTTY: false }, false],
  [{ flag: false, env: { FORCE_COLOR: "1" }, isTTY: true }, false],
])("%j: colours %s", (options, colours) => {
  expect(createColor(options).red("x") !== "x").toBe(colours);
});
