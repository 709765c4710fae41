import type { Chunk } from "./chunker.ts";
import { cutText } from "./snippet.ts";

/** One heading and the heading path that leads to it, itself included. */
interface Heading {
  line: number;
  trail: string[];
}

/** Headings of a Markdown file, in order, and its title. */
export interface Outline {
  headings: Heading[];
  title: string;
}

/** Longest text of a heading or title. It is kept with each passage below it, so a whole file in one heading would be stored once for each of its passages. */
const MAX_HEADING_CHARS = 256;
/** Most headings of one file. Passages behind the last of them have no trail. */
const MAX_HEADINGS = 10_000;

const BETWEEN = " > ";

/** Each expression and each step here reads a line once: notes come from anybody. */
const atxMark = /^ {0,3}(#{1,6})[ \t]+/;
const blanksAtEnd = /(?<![ \t])[ \t]+$/;
const closingMark = /(?<![ \t])[ \t]+#+$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;

/** Reads the headings; lines in code fences and in front matter are none. */
export function readOutline(lines: readonly string[]): Outline {
  const outline: Outline = { headings: [], title: "" };
  const levels: string[] = [];
  let open: string | undefined;
  for (let index = skipFrontMatter(lines, outline); index < lines.length; index++) {
    const line = lines[index] ?? "";
    const mark = fence.exec(line)?.[1];
    if (open !== undefined) {
      if (mark?.startsWith(open)) open = undefined;
      continue;
    }
    if (mark !== undefined) {
      open = mark;
      continue;
    }
    const found = headingAt(lines, index);
    if (!found) continue;
    if (outline.headings.length === MAX_HEADINGS) {
      outline.headings.push({ line: index + 1, trail: [] });
      break;
    }
    addHeading(outline, levels, { ...found, line: index + 1 });
  }
  return outline;
}

/**
 * Words that name what a chunk is about: the trail in force at its first line, then each heading that starts inside it.
 * Each word chain appears once.
 */
export function headingsOf(chunk: Pick<Chunk, "startLine" | "endLine">, outline: Outline): string {
  const { headings } = outline;
  const first = countUpTo(headings, chunk.startLine);
  const before = headings[first - 1];
  const inside = headings.slice(first, countUpTo(headings, chunk.endLine));
  const names = new Set([...(before?.trail ?? []), ...inside.flatMap((h) => h.trail)]);
  return [...names].join(BETWEEN);
}

/** The heading path in force at a line. */
export function trailAt(line: number, { headings }: Outline): string {
  return headings[countUpTo(headings, line) - 1]?.trail.join(BETWEEN) ?? "";
}

/** Counts the headings, which are in order, that begin at this line or before it. */
function countUpTo(headings: readonly Heading[], line: number): number {
  let [low, high] = [0, headings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((headings[middle] as Heading).line <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addHeading(outline: Outline, levels: string[], found: { level: number; text: string; line: number }): void {
  const text = cutText(found.text, MAX_HEADING_CHARS);
  levels.length = Math.min(levels.length, found.level - 1);
  while (levels.length < found.level - 1) levels.push("");
  levels.push(text);
  if (outline.title === "" && found.level === 1) outline.title = text;
  outline.headings.push({ line: found.line, trail: levels.filter((text) => text !== "") });
}

function headingAt(lines: readonly string[], index: number): { level: number; text: string } | undefined {
  const line = lines[index] ?? "";
  const mark = atxMark.exec(line);
  if (mark) {
    const text = line.slice(mark[0].length).replace(blanksAtEnd, "").replace(closingMark, "");
    return text === "" ? undefined : { level: mark[1]?.length ?? 1, text };
  }
  const under = lines[index + 1] ?? "";
  const isText = /^ {0,3}[^\s>*+-]/.test(line) && (index === 0 || (lines[index - 1] ?? "").trim() === "");
  if (isText && /^ {0,3}=+[ \t]*$/.test(under)) return { level: 1, text: line.trim() };
  if (isText && /^ {0,3}-{2,}[ \t]*$/.test(under)) return { level: 2, text: line.trim() };
  return undefined;
}

/** Index of the first line after YAML front matter; its `title:` becomes the title. */
function skipFrontMatter(lines: readonly string[], outline: Outline): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return 0;
  for (const line of lines.slice(1, end)) outline.title ||= cutText(titleIn(line), MAX_HEADING_CHARS);
  return end + 1;
}

/** Value of a `title:` line of front matter, without the quotes around it. */
function titleIn(line: string): string {
  if (!line.startsWith("title:")) return "";
  const value = line.slice("title:".length).trim();
  const from = /^["']/.test(value) ? 1 : 0;
  return value.slice(from, value.length > from && /["']$/.test(value) ? -1 : undefined);
}
