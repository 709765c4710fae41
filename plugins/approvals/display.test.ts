import { describe, expect, test } from "vitest";
import { shownRequest, visible } from "./display.ts";

test.each([
  ["a line break", "ls\nrm -rf x", "ls\\u{a}rm -rf x"],
  ["an escape sequence", "\u001b[2Jls", "\\u{1b}[2Jls"],
  ["a turned direction", "ls \u202egnp.exe", "ls \\u{202e}gnp.exe"],
  ["a zero-width space", "r\u200bm", "r\\u{200b}m"],
  ["a tag character", "a\u{e0041}b", "a\\u{e0041}b"],
  ["an annotation mark", "a\ufff9b", "a\\u{fff9}b"],
  ["half a surrogate pair", "a\ud800b", "a\\u{d800}b"],
  ["a filler that looks like a space", "a\u3164b", "a\\u{3164}b"],
])("%s in a text is made visible", (_name, text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("ordinary text of any script is left as it is", () => {
  for (const text of ["rm -rf ./build && echo 'ok'", "größe", "日本語", "العربية", "👍"]) expect(visible(text)).toBe(text);
});

test.each([
  [
    "exec",
    { command: "ls", cwd: "/srv\u202e/x", host: "a\u200bb", agentId: "m\u00adain" },
    { cwd: "/srv\\u{202e}/x", host: "a\\u{200b}b", agentId: "m\\u{ad}ain" },
  ],
  [
    "plugin",
    { title: "t", description: "d", toolName: "re\u200bad", pluginId: "x\ny" },
    { toolName: "re\\u{200b}ad", pluginId: "x\\u{a}y" },
  ],
] as const)("no text of a question of kind %s hides anything", (kind, request, shown) => {
  expect(shownRequest({ kind, request } as Parameters<typeof shownRequest>[0])).toMatchObject(shown);
});

describe("a question about a command", () => {
  test("given as arguments shows these, whatever text came with them", () => {
    const request = shownRequest({ kind: "exec", request: { command: "ls", commandArgv: ["rm", "-rf", "/"] } });
    expect(request).toMatchObject({ command: "rm -rf /", commandArgv: ["rm", "-rf", "/"] });
  });

  test("given as arguments shows a line as it would be typed", () => {
    const request = shownRequest({ kind: "exec", request: { commandArgv: ["git", "commit", "-m", "it's done", ""] } });
    expect(request).toMatchObject({ command: `git commit -m 'it'\\''s done' ''`, commandArgv: ["git", "commit", "-m", "it's done", ""] });
  });

  test.each([
    [undefined, ["allow-once", "deny"]],
    ["always", ["allow-once", "deny"]],
    ["off", ["allow-once", "deny"]],
    ["on-miss", ["allow-once", "allow-always", "deny"]],
  ] as const)("with ask %s offers %j", (ask, offered) => {
    expect(shownRequest({ kind: "exec", request: { command: "ls", ...(ask ? { ask } : {}) } }).allowedDecisions).toEqual(offered);
  });
});

test.each([
  [undefined, ["allow-once", "deny"]],
  [["allow-always"], ["allow-always", "deny"]],
  [
    ["deny", "allow-once", "deny"],
    ["deny", "allow-once"],
  ],
] as const)("a plugin that allows %j offers %j: no is always possible", (allowedDecisions, offered) => {
  const request = { title: "t", description: "d", ...(allowedDecisions ? { allowedDecisions } : {}) };
  expect(shownRequest({ kind: "plugin", request }).allowedDecisions).toEqual(offered);
});
