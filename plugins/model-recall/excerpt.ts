import { weightOf } from "./terms.ts";

const GAP = "…";

/** Maximum size of the shown part of a passage. */
export interface ExcerptSize {
  maxChars: number;
  maxLines: number;
}

/**
 * The part of a passage that speaks to the question: its most telling line, what stands around it under the same heading, and that heading.
 * A passage that fits is shown whole.
 */
export function excerptOf(input: string[], weights: Map<string, number>, size: ExcerptSize): string[] {
  const lines = trimBlank(input);
  if (lines.join("\n").length <= size.maxChars && lines.length <= size.maxLines) return lines;
  const [from, to] = grow(lines, indexOfBest(lineValues(lines, weights)), size);
  const headingAt = lines.slice(0, from).findLastIndex(isHeading);
  const heading = lines[headingAt];
  const cut = trimBlank(lines.slice(from, to + 1)).map((line) => clipLine(line, size.maxChars));
  const skips = lines.slice(headingAt + 1, from).some(isFilled);
  const more = lines.slice(to + 1).some(isFilled) && !cut.at(-1)?.endsWith(GAP);
  return [...(heading === undefined ? [] : [heading, ""]), ...(skips ? [GAP] : []), ...cut, ...(more ? [GAP] : [])];
}

/** Values of lines for the question, together with their heading; below zero for lines without a match of their own. */
function lineValues(lines: string[], weights: Map<string, number>): number[] {
  let heading = 0;
  return lines.map((line) => {
    if (!isHeading(line)) return isReadable(line) ? heading + weightOf(line, weights) : -1;
    heading = weightOf(line, weights);
    return -1;
  });
}

/** Widens around a line, forward first, until the budget is used up or a heading begins another matter. */
function grow(lines: string[], best: number, size: ExcerptSize): [number, number] {
  let from = best;
  let to = best;
  let chars = (lines[best] ?? "").length;
  const fits = (line: string | undefined): line is string =>
    line !== undefined && !isHeading(line) && chars + line.length < size.maxChars && to - from + 1 < size.maxLines;
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
  return values.indexOf(Math.max(...values));
}

function clipLine(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  const space = line.lastIndexOf(" ", maxChars);
  const cut = space > maxChars / 2 ? space : maxChars;
  return `${line.slice(0, cut).replace(/[\ud800-\udbff]$/, "")} ${GAP}`;
}

/** Says something to a person: not blank, a rule or a fence. */
export function isReadable(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line);
}

/** A Markdown heading. */
export function isHeading(line: string): boolean {
  return /^#{1,6}\s/.test(line);
}

/** A list marker alone is what a cut snippet ends with. */
function isFilled(line: string): boolean {
  return !/^([-*+]|\d+[.)])?$/.test(line.trim());
}

function trimBlank(lines: string[]): string[] {
  const first = lines.findIndex(isFilled);
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex(isFilled) + 1);
}
