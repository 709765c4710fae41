import { describe, expect, test } from "vitest";
import { cpuMs } from "../../test/tools/growth.ts";

const page = (path: string) => import(new URL(`./public/core/${path}`, import.meta.url).href);
const { readMarkdown } = await page("markdown.js");

interface Token {
  type: string;
  raw: string;
  text?: string;
  tokens?: Token[];
  items?: Token[];
}

/** Levels of tokens in tokens: what is drawn takes stack for each of them. */
function depthOf(tokens: readonly Token[]): number {
  let deepest = 0;
  let level: Token[] = [...tokens];
  while (level.length > 0) {
    deepest += 1;
    level = level.flatMap((token) => [...(token.tokens ?? []), ...(token.items ?? [])]);
  }
  return deepest;
}

const fill = (piece: string, chars: number) => piece.repeat(Math.ceil(chars / piece.length));
const hostile: Array<[string, (chars: number) => string]> = [
  ["quotes in quotes", (chars) => `${fill("> ", chars)}x`],
  ["lists in lists", (chars) => `${fill("- ", chars)}x`],
  ["numbered lists in lists", (chars) => `${fill("1. ", chars)}x`],
  ["emphasis in emphasis", (chars) => `${fill("**", chars / 2)}a${fill("**", chars / 2)}`],
  ["emphasis that never ends", (chars) => fill("_a", chars)],
  ["strong emphasis that never ends", (chars) => fill("**a", chars)],
  ["images that never begin", (chars) => fill("!*", chars)],
  ["a mail address that never ends", (chars) => `${fill("a.", chars)}@`],
];

describe("a text of", () => {
  test.each(hostile)("%s takes no stack", (_name, write) => {
    expect(depthOf(readMarkdown(write(50_000)))).toBeLessThan(60);
  });

  test.each(hostile)("%s takes no longer to read than a hundred times an honest one", (_name, write) => {
    const honest = fill("A *word* of [ours](https://example.com), and `code`.\n\n", 60_000);

    expect(cpuMs(() => readMarkdown(write(60_000)), 1)).toBeLessThan(
      100 *
        Math.max(
          1,
          cpuMs(() => readMarkdown(honest)),
        ),
    );
  });
});

test("what is too deep or too long is shown as it stands", () => {
  const deep = readMarkdown(`${"> ".repeat(40)}the end`);
  expect(JSON.stringify(deep)).toContain("the end");

  const long = `**${"word ".repeat(2_000)}end**`;
  expect([...readMarkdown(long)]).toMatchObject([{ type: "paragraph", tokens: [{ type: "text", text: long }] }]);

  const whole = "# x\n".repeat(50_000);
  expect(readMarkdown(whole)).toEqual([{ type: "code", raw: whole, text: whole }]);
});

test("an ordinary text is read as Markdown", () => {
  const all: Token[] = readMarkdown("# Title\n\nA **bold *and thin* word**.\n\n> - one\n>   - two");
  const [heading, paragraph, list] = all.filter(({ type }) => type !== "space");
  expect(heading).toMatchObject({ type: "heading", depth: 1 });
  expect(paragraph?.tokens?.map(({ type }) => type)).toEqual(["text", "strong", "text"]);
  expect(list).toMatchObject({ type: "blockquote", tokens: [{ type: "list" }] });
});
