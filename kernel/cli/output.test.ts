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

describe("on a terminal", () => {
  function terminal() {
    const written = { out: "", err: "" };
    const stdout = { write: (text: string) => (written.out += text), isTTY: true };
    const stderr = { write: (text: string) => (written.err += text), isTTY: true };
    return { written, ...createOutput({ stdout, stderr, json: false }) };
  }

  it.each([
    ["a cleared screen", "a\u001b[2Jb", "a\uFFFD[2Jb"],
    ["a filled clipboard", "\u001b]52;c;eA==\u0007", "\uFFFD]52;c;eA==\uFFFD"],
    ["a control of one byte", "a\u009b2Jb", "a\uFFFD2Jb"],
    ["a line written over another", "approve\rreject", "approve\uFFFDreject"],
    ["a cleared line", "a\u001b[1A\u001b[Kb", "a\uFFFD[1A\uFFFDb"],
    ["a turned direction", "a\u202eb", "a\uFFFDb"],
  ])("text of others does nothing: %s (W-08)", (_, text, shown) => {
    const { written, stdout, stderr } = terminal();
    stdout.line(text);
    stdout.write(text);
    stderr.line(text);
    expect(written).toEqual({ out: `${shown}\n${shown}`, err: `${shown}\n` });
  });

  it("colours, tabs, line ends and any script stay", () => {
    const { written, stdout } = terminal();
    stdout.write("\u001b[1;31mred\u001b[0m\ta\r\nb\n日本 العربية 👩‍💻");
    expect(written.out).toBe("\u001b[1;31mred\u001b[0m\ta\nb\n日本 العربية 👩‍💻");
  });

  it("progress is drawn over itself on stderr, which is all that it may do there", () => {
    const { written, stderr } = terminal();
    stderr.write("\r42 %\u001b[K\u001b[2J");
    expect(written.err).toBe("\r42 %\u001b[K\uFFFD[2J");
  });

  it("behind a pipe everything stays as it is", () => {
    const { written, stdout } = streams(false);
    stdout.line("\u001b[2J\r");
    expect(written.out).toBe("\u001b[2J\r\n");
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
