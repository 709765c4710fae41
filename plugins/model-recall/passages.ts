import { type ExcerptSize, excerptOf, isHeading, isReadable } from "./excerpt.ts";
import type { Hit } from "./search-result.ts";
import { termsOf, weighTerms, weightOf } from "./terms.ts";

export interface Passage {
  lines: string[];
  citation: string | undefined;
}

/** More than three quotes is a list of search results, not an answer. */
const MAX_PASSAGES = 3;
/** The closest passage has the room to answer; the others are pointers. */
const closestSize: ExcerptSize = { maxChars: 600, maxLines: 14 };
const otherSize: ExcerptSize = { maxChars: 280, maxLines: 6 };
/** A passage counts when its score is near the best one's. */
const NEAR_BEST = 0.6;
/** Minimum coverage of the best passage's terms that a hit by keywords alone must have. */
const NEAR_BEST_COVERAGE = 0.5;

/** The hits worth quoting, in the order memory ranked them, without lines that were quoted before. */
export function choosePassages(question: string, hits: Hit[], keywordsOnly: boolean): Passage[] {
  const texts = hits.map((hit) => bodyOf(hit).split("\n"));
  const weights = weighTerms(question);
  const coverage = hits.map((hit, i) => weightOf(`${hit.path}\n${(texts[i] ?? []).join("\n")}`, weights));
  const bestScore = Math.max(...hits.map((hit) => hit.score));
  const bestCoverage = Math.max(...coverage);

  const passages: Passage[] = [];
  const quoted = new Set<string>();
  for (const [i, hit] of hits.entries()) {
    if (passages.length === MAX_PASSAGES) break;
    const isNear = hit.score >= bestScore * NEAR_BEST && (!keywordsOnly || (coverage[i] ?? 0) >= bestCoverage * NEAR_BEST_COVERAGE);
    if (i > 0 && !isNear) continue;
    const fresh = (texts[i] ?? []).filter((line) => line.trim() === "" || !quoted.has(line.trim()));
    const lines = excerptOf(fresh, tellingWithin(hit, texts[i] ?? [], weights), passages.length === 0 ? closestSize : otherSize);
    const isWorthIt = passages.length === 0 ? isReadable : saysSomething;
    if (!lines.some(isWorthIt)) continue;
    for (const line of lines) quoted.add(line.trim());
    passages.push({ lines, citation: hit.citation });
  }
  return passages;
}

/** Terms that distinguish lines within a note: terms of its path and title count only when its lines contain no others. */
function tellingWithin(hit: Hit, lines: string[], weights: Map<string, number>): Map<string, number> {
  const title = lines.find((line) => line.trim() !== "") ?? "";
  const subject = termsOf(`${hit.path}\n${isHeading(title) ? title : ""}`);
  const rest = new Map([...weights].filter(([term]) => !subject.has(term)));
  return weightOf(lines.join("\n"), rest) > 0 ? rest : weights;
}

/** The snippet without the footer that citations add to it. */
function bodyOf(hit: Hit): string {
  const footer = hit.citation === undefined ? "" : `Source: ${hit.citation}`;
  const text = hit.snippet.trimEnd();
  return (footer !== "" && text.endsWith(footer) ? text.slice(0, -footer.length) : text).trim();
}

function saysSomething(line: string): boolean {
  return isReadable(line) && !isHeading(line);
}
