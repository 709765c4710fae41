import type { Token, Tokens } from "marked";

/** Headings of a page, with the anchor of each. */
export type Anchors = Map<Tokens.Heading, string>;

/** Gives each heading the anchor that hosts of repositories give it: lower case, no punctuation, spaces as dashes, a number behind a repeated one. */
export function anchorsOf(tokens: readonly Token[]): Anchors {
  const used = new Map<string, number>();
  const anchors: Anchors = new Map();
  for (const token of tokens) {
    if (token.type !== "heading") continue;
    const heading = token as Tokens.Heading;
    const slug = plainText(heading)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    const count = used.get(slug) ?? 0;
    used.set(slug, count + 1);
    anchors.set(heading, count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** The words of a token without its marks; of a table those of its cells. */
export function plainText(token: Token | undefined): string {
  if (token === undefined) return "";
  if (token.type === "table")
    return cellsOf(token as Tokens.Table)
      .map(textOf)
      .join(" ");
  if (token.type === "list") return (token as Tokens.List).items.map(({ tokens }) => textOf(tokens)).join(" ");
  if (token.type === "space") return " ";
  const { tokens, text, raw } = token as Tokens.Generic;
  return tokens ? textOf(tokens) : String(text ?? raw);
}

function cellsOf({ header, rows }: Tokens.Table): Token[][] {
  return [...header, ...rows.flat()].map(({ tokens }) => tokens);
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(plainText).join("");
}
