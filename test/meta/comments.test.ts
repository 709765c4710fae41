import { expect, test } from "vitest";
import { commentsOf } from "../tools/source/citations.ts";
import { isProductCode, readRepositoryFiles } from "../tools/source/tree.ts";

/** Openings that leave a sentence without its subject. */
const riddle = /\/\*\*\s*(?:\* )?((?:What|Who|Whoever|Whose|Whom|Those|Told)\b[^.\n]*)/g;

const riddlesIn = (source: string) => [...commentsOf(source).matchAll(riddle)].map(([, opening = ""]) => opening.trimEnd());

test("doc comments of the product begin with a verb or with the noun they are about", () => {
  const product = readRepositoryFiles((path) => isProductCode(path) && path.endsWith(".ts"));
  expect(product.size).toBeGreaterThan(900);

  const found = [...product].flatMap(([path, source]) => riddlesIn(source).map((opening) => `${path}: ${opening}`));

  expect(found).toEqual([]);
});

test("a comment that begins with a pronoun is found, on one line and on several", () => {
  const source =
    "/** What stands behind a 200. */\n/**\n * Whoever listens.\n */\n/** Result. What follows is fine. */\nconst a = '/** Who */';\n";

  expect(riddlesIn(source)).toEqual(["What stands behind a 200", "Whoever listens"]);
});
