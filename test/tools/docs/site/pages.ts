import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { type Anchors, anchorsOf, plainText } from "./headings.ts";
import { type Group, groupOf, groups } from "./navigation.ts";

/** One page, from a Markdown file of the repository. */
export interface SitePage {
  /** Path of the source below the root. */
  source: string;
  /** Address below the root of the site. */
  url: string;
  title: string;
  group: Group;
  html: string;
  /** Text by section, for the search. */
  sections: { anchor: string; heading: string; text: string }[];
}

/** Files that pages link to and that are copied as they are. */
const copied = /^(sdk\/docs|examples)\/.*(\.(png|svg|json|ya?ml|conf|ts|service)|\/Caddyfile)$/;

/** Address of the page that a Markdown file becomes. */
export function urlOf(source: string): string {
  return source === "README.md" ? "index.html" : source.replace(/\.md$/, ".html").replace(/(^|\/)README\.html$/, "$1index.html");
}

/**
 * Makes the pages of the site from Markdown files. Raw HTML in them is shown as text, and comments are left out; links to files that the site does not have lose their target.
 * @param files path below the root → text
 * @param has says whether a path exists in the repository
 */
export function sitePages(files: ReadonlyMap<string, string>, has: (path: string) => boolean): { pages: SitePage[]; assets: Set<string> } {
  const assets = new Set<string>();
  const resolve = (source: string, href: string): string | undefined => {
    if (/^(https?|mailto):/.test(href) || href.startsWith("#")) return href;
    const [path = "", hash] = href.split("#", 2);
    const target = posix.normalize(posix.join(posix.dirname(source), path));
    const known = files.has(target) ? urlOf(target) : copied.test(target) && has(target) ? target : undefined;
    if (known === undefined) return undefined;
    if (known === target) assets.add(target);
    const relative = posix.relative(posix.dirname(urlOf(source)), known);
    return hash === undefined ? relative : `${relative}#${hash}`;
  };
  const pages = [...files].map(([source, text]) => page(source, text, (href) => resolve(source, href)));
  const order = (one: SitePage) => groups.indexOf(one.group);
  return { pages: pages.sort((a, b) => order(a) - order(b) || a.title.localeCompare(b.title, "en")), assets };
}

function page(source: string, text: string, resolve: (href: string) => string | undefined): SitePage {
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(text);
  const anchors = anchorsOf(tokens);
  marked.use({ renderer: renderer(anchors, resolve) });
  const title = plainText(tokens.find((token) => token.type === "heading") as Tokens.Heading | undefined) || source;
  return {
    source,
    url: urlOf(source),
    title,
    group: groupOf(source),
    html: marked.parser(tokens),
    sections: sectionsOf(tokens, anchors, title),
  };
}

function renderer(anchors: Anchors, resolve: (href: string) => string | undefined) {
  return {
    heading(this: { parser: { parseInline(tokens: Tokens.Generic[]): string } }, token: Tokens.Heading) {
      return `<h${token.depth} id="${escapeHtml(anchors.get(token) ?? "")}">${this.parser.parseInline(token.tokens)}</h${token.depth}>\n`;
    },
    link(this: { parser: { parseInline(tokens: Tokens.Generic[]): string } }, { href, tokens }: Tokens.Link) {
      const inner = this.parser.parseInline(tokens);
      const target = resolve(href);
      return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
    },
    image({ href, text }: Tokens.Image) {
      const target = resolve(href);
      return target === undefined || /^https?:/.test(target)
        ? escapeHtml(text)
        : `<img src="${escapeHtml(target)}" alt="${escapeHtml(text)}">`;
    },
    html: ({ text }: Tokens.HTML | Tokens.Tag) => (/^<!--[^>]*-->\s*$/.test(text) ? "" : escapeHtml(text)),
  };
}

function sectionsOf(tokens: Tokens.Generic[], anchors: Anchors, title: string): SitePage["sections"] {
  const sections: SitePage["sections"] = [{ anchor: "", heading: title, text: "" }];
  for (const token of tokens) {
    const open = sections.at(-1) as SitePage["sections"][number];
    if (token.type !== "heading") open.text += `${plainText(token)} `;
    else if (token.depth > 1) sections.push({ anchor: anchors.get(token as Tokens.Heading) ?? "", heading: plainText(token), text: "" });
  }
  return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, " ").trim() }));
}

/** Text as HTML shows it, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
