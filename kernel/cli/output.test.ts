import { describe, expect, it } from "vitest";
import { createOutput } from "./cli-output.ts";
import { createColor } from "./output.ts";

function streams(json: boolean, isTTY = false) {
  const written = { out: "", err: "" };
  const output = createOutput({
    stdout: { write: (text) => (written.out += text), isTTY },
    stderr: { write: (text) => (written.err += text), isTTY },
    json,
    bold: (text) => text,
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

describe.each([
  ["on a terminal", true],
  ["behind a pipe", false],
])("%s", (_where, isTTY) => {
  const color = createColor({ flag: true, env: {}, isTTY: true });

  it.each([
    ["a cleared screen", "a\u001b[2Jb", "a\\u001b[2Jb"],
    ["hidden text", "a\u001b[8mb\u001b[31mc", "a\\u001b[8mb\\u001b[31mc"],
    ["a filled clipboard", "\u001b]52;c;eA==\u0007", "\\u001b]52;c;eA==\\u0007"],
    ["a NUL", "a\u0000b", "a\\u0000b"],
    ["a control of one byte", "a\u009b2Jb", "a\\u009b2Jb"],
    ["a line written over another", "approve\rreject", "approve\\u000dreject"],
    ["a cleared line", "a\u001b[1A\u001b[Kb", "a\\u001b[1A\\u001b[Kb"],
    ["a turned direction", "a\u202eb", "a\\u202eb"],
  ])("text of others is shown and does nothing: %s", (_, text, shown) => {
    const { written, stdout, stderr } = streams(false, isTTY);
    stdout.line(text);
    stdout.write(text);
    stderr.line(text);
    expect(written).toEqual({ out: `${shown}\n${shown}`, err: `${shown}\n` });
  });

  it("tabs, line ends and any script stay", () => {
    const { written, stdout } = streams(false, isTTY);
    stdout.write("a\tb\r\nc\n日本 العربية 👩‍💻");
    expect(written.out).toBe("a\tb\nc\n日本 العربية 👩‍💻");
  });

  it("colours of the command are in effect, and those in its text are not", () => {
    const { written, stdout } = streams(false, isTTY);
    stdout.line(`${color.red("a\u001b[32mb")} ${color.cyan(color.bold("c"))}`);
    expect(written.out).toBe("\u001b[31ma\\u001b[32mb\u001b[39m \u001b[36m\u001b[1mc\u001b[22m\u001b[39m\n");
  });

  it("a colour within a colour gives way to the outer one at its end", () => {
    const { written, stdout } = streams(false, isTTY);
    stdout.line(color.red(`a${color.cyan("b")}c`));
    expect(written.out).toBe("\u001b[31ma\u001b[36mb\u001b[31mc\u001b[39m\n");
  });

  it("a table is aligned, and no cell of it forges a row", () => {
    const { written, stdout } = streams(false, isTTY);
    stdout.table(["ID", "NAME"], [["long-id", "a\nb\u001b[2J"]]);
    expect(written.out).toBe("ID       NAME\nlong-id  a\\u000ab\\u001b[2J\n");
  });
});

it("progress is drawn over itself on stderr of a terminal, and the text in it does nothing", () => {
  const { written, stderr } = streams(false, true);
  stderr.write("\r42 %\rx\u001b[K\u001b[2J\u001b[K");
  stderr.write("\r\u001b[K");
  stderr.write("not progress\r");
  expect(written.err).toBe("\r42 %\\u000dx\\u001b[K\\u001b[2J\u001b[K\r\u001b[Knot progress\\u000d");
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
