import { weightOf } from "./terms.ts";

/** Short passages are quoted whole. */
const WHOLE_CHARS = 420;
const MAX_CHARS = 420;
const MAX_LINES = 10;
const GAP = "…";

/**
 * The part of a passage that speaks to the question: its most telling line, what stands around it in the same list or paragraph
 * up to about 420 characters, and the heading it belongs to.
 */
export function excerptOf(input: string[], weights: Map<string, number>): string[] {
  const lines = trimBlank(input);
  if (lines.join("\n").length <= WHOLE_CHARS && lines.length <= MAX_LINES) return lines;
  const best = indexOfBest(lines.map((line) => (isHeading(line) ? 0 : weightOf(line, weights))));
  const [from, to] = grow(lines, best);
  const heading = lines.slice(0, from).findLast(isHeading);
  const cut = trimBlank(lines.slice(from, to + 1)).map(clipLine);
  const more = lines.slice(to + 1).some((line) => line.trim() !== "");
  return [...(heading ? [heading, ""] : []), ...cut, ...(more && !cut.at(-1)?.endsWith(GAP) ? [GAP] : [])];
}

/** Widens around a line, forward first, until the budget is used up or a heading begins another matter. */
function grow(lines: string[], best: number): [number, number] {
  let from = best;
  let to = best;
  let chars = (lines[best] ?? "").length;
  const fits = (line: string | undefined): line is string =>
    line !== undefined && !isHeading(line) && chars + line.length < MAX_CHARS && to - from + 1 < MAX_LINES;
  for (let grew = true; grew; ) {
    grew = false;
    for (const next of [to + 1, from - 1]) {
      const line = lines[next];
      if (!fits(line)) continue;
      if (next > to) to = next;
      else from = next;
      chars += line.length + 1;
      grew = true;
    }
  }
  return [from, to];
}

function indexOfBest(values: number[]): number {
  let best = 0;
  for (const [i, value] of values.entries()) if (value > (values[best] ?? 0)) best = i;
  return best;
}

function clipLine(line: string): string {
  if (line.length <= MAX_CHARS) return line;
  const space = line.lastIndexOf(" ", MAX_CHARS);
  const cut = space > MAX_CHARS / 2 ? space : MAX_CHARS;
  return `${line.slice(0, cut).replace(/[\ud800-\udbff]$/, "")} ${GAP}`;
}

function isHeading(line: string): boolean {
  return /^#{1,6}\s/.test(line);
}

function trimBlank(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line.trim() !== "") + 1);
}
