import { parseInline } from "./inline.ts";
import { withoutSpans } from "./ir.ts";

export type TableMode = "code" | "bullets" | "off";

interface Table {
  header: string[];
  rows: string[][];
  /** The line behind the table. */
  end: number;
}

const DELIMITER = /^[ \t|:-]+$/;
const DELIMITER_CELL = /^:?-+:?$/;
const MAX_COLUMNS = 50;
/** Wider cells stand out of their column. */
const MAX_WIDTH = 40;
/** Blanks may make a table longer than it was written by this factor; beyond, its columns are not aligned. */
const MAX_GROWTH = 4;

/** Reads a table whose header is this line; undefined where there is none. */
export function readTable(lines: readonly string[], at: number, { isLookAhead = false } = {}): Table | undefined {
  const [first = "", delimiter = ""] = [lines[at], lines[at + 1]];
  if (!first.includes("|") || !delimiter.includes("-") || !DELIMITER.test(delimiter)) return undefined;
  const header = cellsOf(first);
  const marks = cellsOf(delimiter);
  if (header.length > MAX_COLUMNS || header.length !== marks.length || !marks.every((cell) => DELIMITER_CELL.test(cell))) return undefined;
  const rows: string[][] = [];
  let end = at + 2;
  for (; !isLookAhead && end < lines.length; end++) {
    const line = lines[end] as string;
    if (line.trim() === "" || !line.includes("|")) break;
    rows.push(cellsOf(line).slice(0, header.length));
  }
  return { header, rows, end };
}

/** Cells of a line; `\|` is part of one. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  const text = line.trim();
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\" && text[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (text[at] !== "|") cell += text[at];
    else {
      cells.push(cell.trim());
      cell = "";
    }
  }
  cells.push(cell.trim());
  if (text.startsWith("|")) cells.shift();
  if (text.endsWith("|") && cells.at(-1) === "") cells.pop();
  return cells;
}

/** Columns side by side, for a font of equal widths. */
export function tableAsText({ header, rows }: Table): string {
  const shown = [header, ...rows].map((row) => header.map((_, i) => withoutSpans(parseInline(row[i] ?? ""))));
  const widths = header.map((_, i) => shown.reduce((most, row) => Math.max(most, Math.min(MAX_WIDTH, widthOf(row[i] as string))), 3));
  const written = shown.reduce((sum, row) => sum + row.join(" | ").length, 0);
  const isTooWide = widths.reduce((sum, width) => sum + width + 3, 0) * (shown.length + 1) > MAX_GROWTH * written + 1_000;
  const line = (row: string[]) =>
    row
      .map((cell, i) => (isTooWide ? cell : cell + " ".repeat(Math.max(0, (widths[i] as number) - widthOf(cell)))))
      .join(" | ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(isTooWide ? 3 : width)).join("-|-");
  return [line(shown[0] as string[]), rule, ...shown.slice(1).map(line)].join("\n");
}

/** One group of lines for each row, as Markdown: its first cell, and the others with the names of their columns. */
export function tableAsBullets({ header, rows }: Table): string {
  const group = (row: string[]) => {
    const [title = "", ...cells] = row;
    const lines = cells.flatMap((cell, i) => (cell === "" ? [] : [`- ${header[i + 1] === "" ? "" : `${header[i + 1]}: `}${cell}`]));
    return [title === "" ? "**–**" : `**${title}**`, ...lines].join("\n");
  };
  return rows.length === 0 ? header.map((name) => `- ${name}`).join("\n") : rows.map(group).join("\n\n");
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;

/** Columns that a text takes. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += WIDE.test(char) ? 2 : 1;
  return width;
}
