import { expect, test } from "vitest";

const { differingLines, inField, isEditable, pathOfName, withLineEnds } = await import(
  new URL("./public/core/note-facts.js", import.meta.url).href
);

test("notes of the agent's folder can be changed, files of the operator cannot", () => {
  for (const path of ["MEMORY.md", "memory/a.md", "memory/people/ana.MD"]) expect(isEditable(path), path).toBe(true);
  for (const path of ["DREAMS.md", "memory", "memory/a.txt", "notes/a.md", "/etc/a.md", "sessions/1"])
    expect(isEditable(path), path).toBe(false);
});

test.each([
  ["garden", "memory/garden.md"],
  [" garden.md ", "memory/garden.md"],
  ["memory/garden", "memory/garden.md"],
  ["./people/ana", "memory/people/ana.md"],
  ["Mülltonnen und Wertstoffe", "memory/Mülltonnen und Wertstoffe.md"],
  ["MEMORY.md", "MEMORY.md"],
  ["__proto__", "memory/__proto__.md"],
])("a note called %j is the file %s", (name, path) => {
  expect(pathOfName(name)).toEqual({ path });
});

test("a name that leads nowhere says what is wrong", () => {
  for (const name of ["", "  ", "a//b", "../a", "people/../a", ".hidden", "a\u0000b", "a\nb", "a\\b", "x".repeat(198)]) {
    expect(pathOfName(name), JSON.stringify(name).slice(0, 40)).toEqual({ problem: expect.stringMatching(/\.$/) });
  }
});

test("a file keeps its line ends, and one that mixes them gets those of the field", () => {
  expect(withLineEnds("a\nb\n", "x\r\ny\r\n")).toBe("a\r\nb\r\n");
  expect(withLineEnds("a\nb\n", "x\ny\n")).toBe("a\nb\n");
  expect(withLineEnds("a\nb\n", "x\r\ny\n")).toBe("a\nb\n");
  expect(withLineEnds("a\nb\n", undefined)).toBe("a\nb\n");
  expect(inField("a\r\nb\rc\n")).toBe("a\nb\nc\n");
});

test.each([
  ["a\nb\nc", "a\nb\nc", 4, 3],
  ["a\nX\nc", "a\nb\nc", 2, 2],
  ["a\nb\nc\nd", "a\nb", 3, 4],
  ["a", "a\nb", 2, 1],
  ["x\na", "a", 1, 1],
  ["a\na", "a\na\na", 3, 2],
])("of %j beside %j the lines %i to %i differ", (theirs, mine, from, to) => {
  expect(differingLines(theirs, mine)).toEqual({ lines: theirs.split("\n"), from, to });
});
