import { expect, test } from "vitest";
import { commentsOf } from "../tools/source/citations.ts";
import { readRepositoryFiles } from "../tools/source/tree.ts";

/** Openings that leave a sentence without its subject, at the beginning of a comment or of one of its lines. */
const riddle = /(?:^[ \t]*\*|\/\*\*?|\/\/)[ \t]*(?:\* )?((?:What|Who|Whoever|Whose|Whom|Those|Told)\b[^.\n]*)/gm;

const riddlesIn = (source: string) => [...commentsOf(source).matchAll(riddle)].map(([, opening = ""]) => opening.trimEnd());

/** Sources of the product, tests, scripts and examples; not vendored files or data. */
const isCommented = (path: string) =>
  /^(kernel|sdk|plugins|bin|test|examples|\.ci)\/.*\.(ts|js|mjs)$|^[^/]+\.ts$/.test(path) && !/\.d\.ts$|\/vendor\//.test(path);

test("comments begin with a verb or with the noun they are about", () => {
  const sources = readRepositoryFiles(isCommented);
  for (const room of ["kernel/", "sdk/", "plugins/", "bin/", "test/", "examples/", ".ci/"])
    expect(
      [...sources.keys()].some((path) => path.startsWith(room)),
      room,
    ).toBe(true);
  expect(sources.size).toBeGreaterThan(1_500);

  const found = [...sources].flatMap(([path, source]) => riddlesIn(source).map((opening) => `${path}: ${opening}`));

  expect(found).toEqual([]);
});

test("a comment that begins with a pronoun is found, on one line and on several", () => {
  const source = [
    "/** What stands behind a 200. */",
    "/**",
    " * Whoever listens.",
    " * Told later. */",
    "/** Result. What follows is fine. */",
    "  // Those of the start.",
    "call(); // Who asked.",
    "const a = '/** Who */ // What';",
  ].join("\n");

  expect(riddlesIn(source)).toEqual(["What stands behind a 200", "Whoever listens", "Told later", "Those of the start", "Who asked"]);
});
