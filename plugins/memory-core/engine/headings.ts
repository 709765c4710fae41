import type { Chunk } from "./chunker.ts";

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

const atx = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
const frontMatterTitle = /^title:[ \t]*["']?(.*?)["']?[ \t]*$/;

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
    if (found) addHeading(outline, levels, { ...found, line: index + 1 });
  }
  return outline;
}

/**
 * Words that name what a chunk is about: the trail in force at its first line, then each heading that starts inside it.
 * Each word chain appears once.
 */
export function headingsOf(chunk: Pick<Chunk, "startLine" | "endLine">, outline: Outline): string {
  const before = outline.headings.findLast((h) => h.line <= chunk.startLine);
  const inside = outline.headings.filter((h) => h.line > chunk.startLine && h.line <= chunk.endLine);
  const names = new Set([...(before?.trail ?? []), ...inside.flatMap((h) => h.trail)]);
  return [...names].join(" > ");
}

function addHeading(outline: Outline, levels: string[], found: { level: number; text: string; line: number }): void {
  levels.length = Math.min(levels.length, found.level - 1);
  while (levels.length < found.level - 1) levels.push("");
  levels.push(found.text);
  if (outline.title === "" && found.level === 1) outline.title = found.text;
  outline.headings.push({ line: found.line, trail: levels.filter((text) => text !== "") });
}

function headingAt(lines: readonly string[], index: number): { level: number; text: string } | undefined {
  const line = lines[index] ?? "";
  const match = atx.exec(line);
  if (match) return match[2] ? { level: match[1]?.length ?? 1, text: match[2] } : undefined;
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
  for (const line of lines.slice(1, end)) outline.title ||= frontMatterTitle.exec(line)?.[1] ?? "";
  return end + 1;
}
