import { expect, test } from "vitest";
import { environmentFor, isForbiddenName } from "./environment.ts";
import { clamp, Output } from "./output.ts";
import { fitsPattern, wordsOf } from "./patterns.ts";

test.each([
  ["git status", "git status", true],
  ["git status", "git status --short", false],
  ["git log *", "git log", true],
  ["git log *", "git log -p --all", true],
  ["git log *", "git push", false],
  ["git * origin", "git fetch origin", true],
  ["git * origin", "git fetch -f origin", false],
  ["*", "rm -rf /", false],
  ["* status", "evil status", false],
  ["  git   status ", "git status", true],
])("the pattern %j and the command %j: %s", (pattern, command, fits) => {
  expect(fitsPattern(command.split(" "), wordsOf(pattern))).toBe(fits);
});

test("a command sees the usual variables, the named ones and its own, never those of svc or loaders", () => {
  const from = {
    PATH: "/bin",
    HOME: "/root",
    LANG: "C",
    TZ: "UTC",
    SVC_GATEWAY_TOKEN: "t",
    OPENAI_API_KEY: "k",
    LD_PRELOAD: "x",
    EDITOR: "vi",
  };
  expect(environmentFor(from, { names: ["EDITOR", "SVC_GATEWAY_TOKEN", "LD_PRELOAD"], own: { A: "1" } })).toEqual({
    ...{ PATH: "/bin", HOME: "/root", LANG: "C", TZ: "UTC", EDITOR: "vi", A: "1" },
  });
  const refused = [
    "SVC_X",
    "svc_x",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "BASH_ENV",
    "GIT_SSH_COMMAND",
    "PYTHONSTARTUP",
    "PERL5OPT",
  ];
  expect(refused.filter((name) => !isForbiddenName(name))).toEqual([]);
  expect(["PATH", "EDITOR", "NODE_ENV", "GIT_AUTHOR_NAME"].filter(isForbiddenName)).toEqual([]);
});

test("of a long output the newest megabyte is kept, and its beginning and end are shown", () => {
  const output = new Output();
  for (let i = 0; i < 40; i++) output.add(Buffer.alloc(65_536, 97 + (i % 26)));
  const { text, lost, end } = output.from(0);
  expect([text.length, lost, end]).toEqual([1_048_576, 40 * 65_536 - 1_048_576, 40 * 65_536]);
  expect(output.from(end).text).toBe("");
  const shown = clamp("\u00e9".repeat(100), 20);
  expect(shown).toBe(
    `${"\u00e9".repeat(4)}\n[… 180 of 200 bytes left out; write long output to a file and read parts of it …]\n${"\u00e9".repeat(6)}`,
  );
});
