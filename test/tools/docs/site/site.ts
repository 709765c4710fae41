import { posix } from "node:path";
import { type Group, groups } from "./navigation.ts";
import { escapeHtml, type SitePage, sitePages } from "./pages.ts";

/** Markdown files that become pages. */
export function isPage(path: string): boolean {
  return (
    /^(README|SECURITY|CHANGELOG|CONTRIBUTING)\.md$/.test(path) ||
    /^(sdk\/docs|examples)\/.*\.md$/.test(path) ||
    /^plugins\/[^/]+\/README\.md$/.test(path) ||
    /^(kernel|sdk)(\/[^/]+)?\/README\.md$/.test(path)
  );
}

/**
 * Makes the documentation site: plain files that a browser reads from a disk or from any server. Nothing is loaded from elsewhere and nobody is counted.
 * @param files Markdown files by path below the root
 * @returns files of the site by their path, and the files to copy beside them
 */
export function site(
  files: ReadonlyMap<string, string>,
  has: (path: string) => boolean,
): { files: Map<string, string>; assets: Set<string> } {
  const { pages, assets } = sitePages(files, has);
  const out = new Map(pages.map((page) => [page.url, document(page, pages)]));
  const index = pages.flatMap(({ url, title, sections }) =>
    sections.map(({ anchor, heading, text }) => [anchor === "" ? url : `${url}#${anchor}`, title, heading, text]),
  );
  // A script, because a page that is read from a disk may load scripts and no data.
  out.set("search-index.js", `globalThis.svcPages = ${JSON.stringify(index)};\n`);
  return { files: out, assets };
}

function document(page: SitePage, pages: readonly SitePage[]): string {
  const to = (url: string) => escapeHtml(posix.relative(posix.dirname(page.url), url));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${page.url === "index.html" ? "svc" : `${escapeHtml(page.title)} – svc`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to("site.css")}">
<script defer src="${to("search-index.js")}"></script>
<script defer src="${to("search.js")}" data-root="${to("index.html").replace("index.html", "")}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header><a class="home" href="${to("index.html")}">svc</a>
<form role="search"><input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off"></form></header>
<div class="columns">
<nav aria-label="Pages">${groups.map((group) => menu(group, page, pages, to)).join("")}</nav>
<main id="content"><ol id="results" hidden></ol><article>
${page.html}</article></main>
</div>
</body>
</html>
`;
}

function menu(group: Group, open: SitePage, pages: readonly SitePage[], to: (url: string) => string): string {
  const own = pages.filter((page) => page.group === group);
  const items = own.map((page) => {
    const isOpen = page === open ? ' aria-current="page"' : "";
    return `<li><a href="${to(page.url)}"${isOpen}>${escapeHtml(page.title)}</a></li>`;
  });
  return `<details${group === open.group ? " open" : ""}><summary>${group}</summary><ul>${items.join("")}</ul></details>`;
}
