import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";
import type { PageAnswer, PageJob } from "./page-job.ts";

/** Longest source that is made into a document, in UTF-16 units; 3 MB took 3.5 s with defuddle 0.19.4. */
const MAX_HTML_CHARS = 1024 * 1024;
/** Deepest document that is searched for an article: 20,000 nested tags took defuddle more than a minute. */
const MAX_DEPTH = 500;

/**
 * Title and article of a page as Markdown, with links made whole. A page that is nested too deeply gives its plain text.
 * Nothing is fetched: extractors that would ask third parties are off.
 */
export async function readPage({ html, url }: PageJob): Promise<{ title: string; text: string }> {
  const { document } = parseHTML(wholeDocument(html.slice(0, MAX_HTML_CHARS)));
  const title = (document.title ?? "").trim().slice(0, 500);
  if (depthOf(document.documentElement) > MAX_DEPTH) return { title, text: plainText(document.documentElement) };
  const { content, title: found } = await Defuddle(document as never, url, { markdown: true, useAsync: false });
  const text = content.trim();
  return { title: found || title, text: text === "" ? plainText(document.documentElement) : text };
}

/** The same, or a failure in words that are none of the page: a model reads them outside of any frame, and what a parser says repeats what it read. */
export async function pageAnswer(job: PageJob, read = readPage): Promise<PageAnswer> {
  try {
    return await read(job);
  } catch {
    return { failure: "it is not made as pages are" };
  }
}

/** The tags that HTML allows to leave out, and linkedom does not add. */
function wholeDocument(html: string): string {
  return /<html[\s>]/i.test(html) ? html : `<html><body>${html.replace(/^\s*<!doctype[^>]*>/i, "")}</body></html>`;
}

interface TreeNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly firstChild: TreeNode | null;
  readonly nextSibling: TreeNode | null;
  readonly parentNode: TreeNode | null;
}

const TEXT = 3;
const unread = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "TITLE"]);

function depthOf(root: unknown): number {
  let deepest = 0;
  walk(root as TreeNode, (_, depth) => {
    deepest = Math.max(deepest, depth);
    return true;
  });
  return deepest;
}

function plainText(root: unknown): string {
  const parts: string[] = [];
  walk(root as TreeNode, (node) => {
    if (node.nodeType === TEXT) parts.push((node.nodeValue ?? "").replace(/\s+/g, " "));
    return !unread.has(node.nodeName);
  });
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .join("\n");
}

/** Visits every node without recursion: a page may be nested deeper than a stack reaches. */
function walk(root: TreeNode | null, visit: (node: TreeNode, depth: number) => boolean): void {
  let depth = 0;
  for (let node = root; node; ) {
    if (visit(node, depth) && node.firstChild) {
      node = node.firstChild;
      depth += 1;
      continue;
    }
    while (node && node !== root && !node.nextSibling) {
      node = node.parentNode;
      depth -= 1;
    }
    if (!node || node === root) return;
    node = node.nextSibling;
  }
}
