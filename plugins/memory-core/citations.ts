import { type CitationMode, normalizedSessionKey } from "svc/sdk";
import { cutText } from "./engine/snippet.ts";

/** Citation of a passage, as people and models write it. */
export function citationOf(hit: { path: string; startLine: number; endLine: number }): string {
  const lines = hit.endLine > hit.startLine ? `L${hit.startLine}-L${hit.endLine}` : `L${hit.startLine}`;
  return `${hit.path}#${lines}`;
}

/** In `auto` mode a direct chat sees sources, a group or a channel does not. */
export function showsCitations(mode: CitationMode, sessionKey: string | undefined): boolean {
  if (mode !== "auto") return mode === "on";
  const tokens = normalizedSessionKey(sessionKey ?? "").split(":");
  return !tokens.includes("group") && !tokens.includes("channel");
}

/** Adds `Source:` footers. */
export function withCitations<T extends { path: string; startLine: number; endLine: number; snippet: string }>(
  hits: readonly T[],
): Array<T & { citation: string }> {
  return hits.map((hit) => {
    const citation = citationOf(hit);
    return { ...hit, citation, snippet: `${hit.snippet.trim()}${footerOf(citation)}` };
  });
}

/** Fits snippets into a budget: the one that crosses it is cut, its footer kept; the rest is dropped. */
export function fitInjected<T extends { snippet: string; citation?: string }>(hits: readonly T[], maxChars: number | undefined): T[] {
  if (maxChars === undefined) return [...hits];
  const kept: T[] = [];
  let left = maxChars;
  for (const hit of hits) {
    const footer = hit.citation === undefined ? "" : footerOf(hit.citation);
    const snippet = hit.snippet.length <= left ? hit.snippet : cutBody(hit.snippet, footer, left);
    if (snippet === undefined) break;
    kept.push(snippet === hit.snippet ? hit : { ...hit, snippet });
    left -= snippet.length;
    if (snippet !== hit.snippet) break;
  }
  return kept;
}

function footerOf(citation: string): string {
  return `\n\nSource: ${citation}`;
}

function cutBody(snippet: string, footer: string, left: number): string | undefined {
  const room = left - footer.length;
  if (room <= 0) return undefined;
  return cutText(snippet.slice(0, snippet.length - footer.length), room) + footer;
}
