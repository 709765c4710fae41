import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { isPage, site } from "../tools/docs/site/site.ts";
import { readRepositoryFiles, repositoryFiles } from "../tools/source/tree.ts";

const paths = new Set(repositoryFiles());
const { files, assets } = site(readRepositoryFiles(isPage), (path) => paths.has(path));
const pages = [...files].filter(([path]) => path.endsWith(".html"));
const made = new Set([...files.keys(), ...assets, "site.css", "search.js"]);

type Row = [url: string, title: string, heading: string, text: string];
const script = (name: string) => readFileSync(join(import.meta.dirname, "../tools/docs/site", name), "utf8");
const browser = {} as { svcPages: Row[]; svcSearch(rows: Row[], query: string): { url: string }[] };
runInNewContext(files.get("search-index.js") ?? "", browser);
runInNewContext(script("search.js"), browser);

describe("the documentation site", () => {
  test("has every guide and reference page", () => {
    const sources = [...paths].filter((path) => /^sdk\/docs\/.*\.md$/.test(path)).map((path) => path.replace(/\.md$/, ".html"));
    expect(sources.length).toBeGreaterThan(25);
    expect(sources.filter((path) => !files.has(path))).toEqual([]);
  });

  test("has no link that leads nowhere", () => {
    const broken = pages.flatMap(([path, html]) =>
      [...html.matchAll(/(?:href|src)="([^"]*)"/g)]
        .map(([, link = ""]) => link.replaceAll("&amp;", "&"))
        .filter((link) => !/^(https?:|mailto:|data:,$)/.test(link))
        .filter((link) => {
          const [file = "", anchor] = link.split("#", 2);
          const target = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), file));
          return !made.has(target) || (anchor && !files.get(target)?.includes(` id="${anchor}"`));
        })
        .map((link) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test("loads nothing from elsewhere", () => {
    const loaded = pages.flatMap(([, html]) =>
      [...html.matchAll(/<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]*)"/g)].map(([, url]) => url),
    );
    expect(loaded.length).toBeGreaterThan(pages.length);
    expect(loaded.filter((url) => /^(?:[a-z]+:)?\/\//i.test(url ?? ""))).toEqual([]);
  });

  test.each([
    ["backup create", "sdk/docs/guide/backup-and-restore.html"],
    ["systemd", "sdk/docs/guide/run-as-a-service.html"],
    ["gateway.remote", "sdk/docs/guide/remote-access.html"],
    ["models/key-rejected", "sdk/docs/guide/troubleshooting.html"],
    ["nginx trustedProxies", "sdk/docs/guide/https-and-proxy.html"],
  ])("is searched for %j by every word", (query, url) => {
    const found = browser.svcSearch(browser.svcPages, query).map((row) => row.url.split("#")[0]);
    expect(found).toContain(url);
    expect(browser.svcSearch(browser.svcPages, `${query} no-such-word-anywhere`)).toEqual([]);
  });

  test("shows HTML in a page as text, and keeps only links that it can follow", () => {
    const text =
      "# A <b>\n\n<!-- for writers -->\n\n<script>alert(1)</script>\n\n[there](other.md) [gone](gone.ts) [away](https://example.org) ![x](https://example.org/x.png)\n";
    const small = site(
      new Map([
        ["README.md", text],
        ["other.md", "# Other"],
      ]),
      () => false,
    ).files.get("index.html");
    expect(small).toContain('<a href="other.html">there</a> gone <a href="https://example.org">away</a> x');
    expect(small).toContain("&lt;script&gt;");
    expect(small).not.toContain("for writers");
    expect(small).not.toMatch(/<script>|<img/);
  });
});
