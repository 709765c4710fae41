import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { editText } from "../../kernel/config/edit-text.ts";
import { parseConfigPath, resolveConfigPath, withValueAt } from "../../sdk/internal/config-paths.ts";

const parse = (text: string): unknown => JSON5.parse(text);
const editWith = (text: string, path: string, value: unknown) => {
  const current = parse(text);
  return editText(text, { current, next: withValueAt(current, resolveConfigPath(current, parseConfigPath(path)), value) });
};
const edited = (text: string, path: string, value: unknown) => editWith(text, path, value).text;

const commented = `// the house
{
  // who may come in
  gateway: {
    port: 18789, // the usual one
    auth: { mode: 'token', token: '\${SVC_TOKEN}' },
  },

  agents: {
    list: [
      { id: 'main', model: "a/b" }, // for me
      /* for the office */
      { id: 'ops' },
    ],
  },
  // more to come
}
`;

describe("a value is changed where it stands", () => {
  test.each([
    ["a number", "gateway.port", 1234, "port: 18789,", "port: 1234,"],
    ["a text, in its own quotes", "agents.list[id=main].model", "c/d's", '"a/b"', `"c/d's"`],
    ["a text in single quotes", "gateway.auth.mode", "it's", "'token',", "'it\\'s',"],
    ["one kind of value by another", "gateway.port", { a: 1 }, "port: 18789,", "port: {\n      a: 1,\n    },"],
  ])("%s", (_, path, value, before, after) => {
    expect(edited(commented, path, value)).toBe(commented.replace(before, after));
  });

  test("and back again, byte by byte", () => {
    expect(edited(edited(commented, "gateway.port", 1), "gateway.port", 18789)).toBe(commented);
  });

  test("of a key that stands twice where the parser takes it from", () => {
    expect(edited("{ b: 1, b: 2 }", "b", 3)).toBe("{ b: 1, b: 3 }");
  });

  test("an equal value changes no byte, whatever its notation", () => {
    expect(edited("{ a: 0x10, b: +1, }", "a", 16)).toBe("{ a: 0x10, b: +1, }");
  });
});

describe("a key is added in the style of the file", () => {
  test.each([
    ["behind the comment of the last", "{\n  a: 1 // one\n}", "{\n  a: 1, // one\n  b: 2\n}"],
    ["with a trailing comma", "{\n\ta: 1,\n}", "{\n\ta: 1,\n\tb: 2,\n}"],
    ["on one line", "{ a: 1 }", "{ a: 1, b: 2 }"],
    ["on one line without blanks", '{"a":1}', '{"a":1,"b":2}'],
    ["in quotes", '{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "b": 2\n}\n'],
    ["to an empty file", "{}", "{\n  b: 2\n}"],
    ["to one that holds a comment", "{\n  // nothing yet\n}", "{\n  b: 2\n  // nothing yet\n}"],
    ["with Windows line ends", "{\r\n  a: 1\r\n}", "{\r\n  a: 1,\r\n  b: 2\r\n}"],
    ["before comments that stand alone", "{\n  a: 1,\n  // c: 3\n}", "{\n  a: 1,\n  b: 2,\n  // c: 3\n}"],
  ])("%s", (_, before, after) => {
    expect(edited(before, "b", 2)).toBe(after);
    if (before !== "{}") expect(edited(after, "b", undefined)).toBe(before);
  });

  test("inside an empty object on a line with others", () => {
    expect(edited("{ a: {} }", "a.b", 1)).toBe("{ a: { b: 1 } }");
    expect(edited('{"a":{}}', "a.b", 1)).toBe('{"a":{"b":1}}');
    expect(edited("{ a: [ /* none */ ] }", "a[0]", 1)).toBe("{ a: [ /* none */ 1] }");
  });

  test("with its parents", () => {
    expect(edited("{\n  a: 1,\n}\n", "b.c.d", ["x"])).toBe('{\n  a: 1,\n  b: {\n    c: {\n      d: ["x"],\n    },\n  },\n}\n');
  });
});

describe("a key is taken out", () => {
  test.each([
    ["the first", "{\n  b: 2, // two\n  a: 1\n}", "{\n  // two\n  a: 1\n}"],
    ["one between", "{\n  a: 1,\n  b: 2,\n  c: 3\n}", "{\n  a: 1,\n  c: 3\n}"],
    ["the last, and the comma before it", "{\n  a: 1,\n  b: 2\n}", "{\n  a: 1\n}"],
    ["the last, and the trailing comma stays", "{\n  a: 1,\n  b: 2,\n}", "{\n  a: 1,\n}"],
    ["the only one", "{ b: 2 }", "{}"],
    ["on one line", "{ b: 2, a: 1 }", "{ a: 1 }"],
    ["one with a comment above, which stays", "{\n  a: 1,\n  // two\n  b: 2,\n  c: 3\n}", "{\n  a: 1,\n  // two\n  c: 3\n}"],
    ["one that stands twice", "{ b: 1, a: 1, b: 2 }", "{ a: 1 }"],
  ])("%s", (_, before, after) => {
    expect(edited(before, "b", undefined)).toBe(after);
  });
});

describe("a list", () => {
  test.each([
    ["gets a member at its end", "a[2]", 3, "{ a: [1, 2] }", "{ a: [1, 2, 3] }"],
    ["loses its first", "a[0]", undefined, "{ a: [1, 2] }", "{ a: [2] }"],
    ["loses its last", "a[1]", undefined, "{ a: [1, 2] }", "{ a: [1] }"],
    ["gets its first member", "a[0]", 1, "{ a: [] }", "{ a: [1] }"],
    ["gets one before the others", "a", [0, 1, 2], "{ a: [1, 2] }", "{ a: [0, 1, 2] }"],
    ["is replaced by one of objects", "a", [{ b: 1 }], "{\n  a: 1\n}", "{\n  a: [\n    {\n      b: 1\n    }\n  ]\n}"],
  ])("%s", (_, path, value, before, after) => {
    expect(edited(before, path, value)).toBe(after);
  });

  test("of members with ids keeps those that stay, with their comments", () => {
    const next = [{ id: "main", model: "a/b", name: "me" }, { id: "new" }];
    const { text, lost } = editWith(commented, "agents.list", next);
    expect(text).toContain(`{ id: 'main', model: "a/b", name: 'me' }, // for me`);
    expect(text).toContain("/* for the office */");
    expect(parse(text)).toMatchObject({ agents: { list: next } });
    expect(lost).toEqual([]);
  });

  test("whose members change places is written anew, and the loss of its comments is told", () => {
    const { text, lost } = editWith(commented, "agents.list", [{ id: "ops" }, { id: "main", model: "a/b" }]);
    expect(text).toContain("// who may come in");
    expect(lost).toEqual(["agents.list"]);
  });
});

test("variables are text like any other and keep their bytes", () => {
  expect(edited(commented, "gateway.port", 1)).toContain("token: '${SVC_TOKEN}'");
  expect(edited("{ a: 1 }", "a", "${HOME}/x")).toBe('{ a: "${HOME}/x" }');
});
