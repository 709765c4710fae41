import type { MarkdownIR } from "svc/sdk";
import { toWellFormed } from "svc/sdk/internal";
import { parseInline } from "./inline.ts";
import { IrWriter } from "./ir.ts";
import { readTable, type TableMode, tableAsBullets, tableAsText } from "./table.ts";

const FENCE = /^([ \t]{0,12})(`{3,}|~{3,}(?!~))([^`]*)$/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(\S.*)$/;
const QUOTE = /^ {0,3}> ?/;
const LIST_ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
const MAX_LANGUAGE_CHARS = 40;

/**
 * Reads the Markdown that models write into text and spans: headings, quotations, fences, tables, emphasis, code and links. Lists, rules and everything else stay
 * as they were written, because every platform shows them so. Lines are kept. Needs time in proportion to the text.
 */
export function parseMarkdown(source: string, tables: TableMode): MarkdownIR {
  const out = new IrWriter();
  writeBlocks(toWellFormed(source).replace(/\r\n?/g, "\n").split("\n"), out, { tables, isQuoted: false });
  return out.result();
}

interface Context {
  tables: TableMode;
  isQuoted: boolean;
}

/** Writes lines; between two blocks stands the line break that was there. */
function writeBlocks(lines: readonly string[], out: IrWriter, context: Context): void {
  for (let at = 0, isFirst = true; at < lines.length; isFirst = false) {
    if (!isFirst) out.write("\n");
    at = writeBlock(lines, at, out, context);
  }
}

/** @returns the line behind the block */
function writeBlock(lines: readonly string[], at: number, out: IrWriter, context: Context): number {
  const line = lines[at] as string;
  const fence = FENCE.exec(line);
  if (fence) return writeFence(lines, at, { out, indent: fence[1] as string, mark: fence[2] as string, info: fence[3] as string });
  const heading = HEADING.exec(line);
  if (heading) {
    const start = out.length;
    out.add(parseInline(withoutClosing(heading[1] as string)));
    out.cover("heading", start);
    return at + 1;
  }
  if (!context.isQuoted && QUOTE.test(line)) return writeQuote(lines, at, out, context);
  const table = context.tables === "off" ? undefined : readTable(lines, at);
  if (table) {
    const text = context.tables === "code" ? tableAsText(table) : undefined;
    const start = out.length;
    if (text === undefined) out.add(parseInline(tableAsBullets(table)));
    else out.write(text);
    if (text !== undefined) out.cover("codeBlock", start);
    return table.end;
  }
  let end = at + 1;
  while (end < lines.length && !beginsBlock(lines, end, context)) end += 1;
  out.add(parseInline(lines.slice(at, end).join("\n")));
  return end;
}

/** A paragraph ends at an empty line, and where another block or an item of a list begins. */
function beginsBlock(lines: readonly string[], at: number, { tables, isQuoted }: Context): boolean {
  const line = lines[at] as string;
  const isBlank = line.trim() === "" || (lines[at - 1] as string).trim() === "";
  if (isBlank || LIST_ITEM.test(line) || FENCE.test(line) || HEADING.test(line)) return true;
  return (!isQuoted && QUOTE.test(line)) || (tables !== "off" && readTable(lines, at, { isLookAhead: true }) !== undefined);
}

function writeFence(
  lines: readonly string[],
  at: number,
  { out, indent, mark, info }: { out: IrWriter; indent: string; mark: string; info: string },
): number {
  const isEnd = (line: string) => {
    const found = FENCE.exec(line);
    return found !== null && (found[3] as string).trim() === "" && (found[2] as string).startsWith(mark);
  };
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end] as string)) end += 1;
  const body = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()));
  const language = (/^[\w+#.-]+/.exec(info.trim())?.[0] ?? "").slice(0, MAX_LANGUAGE_CHARS);
  const start = out.length;
  out.write(body.join("\n"));
  out.cover("codeBlock", start, language === "" ? {} : { language });
  return end + 1;
}

function writeQuote(lines: readonly string[], at: number, out: IrWriter, context: Context): number {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] as string)) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  const start = out.length;
  writeBlocks(inner, out, { ...context, isQuoted: true });
  out.cover("quote", start);
  return end;
}

/** A heading may end with as many signs as it likes. */
function withoutClosing(text: string): string {
  let end = text.trimEnd().length;
  const trimmed = end;
  while (text[end - 1] === "#") end -= 1;
  return end < trimmed && /\s/.test(text[end - 1] ?? "") ? text.slice(0, end).trimEnd() : text.slice(0, trimmed);
}
