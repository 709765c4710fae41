import { isRecord } from "../../sdk/is-record.ts";
import type { Span } from "./json5-spans.ts";

/** Style of a file, so that additions look as if its author had typed them. */
export interface TextStyle {
  eol: string;
  /** One level of indentation. */
  unit: string;
  quote: '"' | "'";
  quotedKeys: boolean;
  trailingComma: boolean;
  /** `{"a":1}` without blanks. */
  compact: boolean;
}

/** Style of files this program writes: plain JSON. */
export const plainStyle: TextStyle = { eol: "\n", unit: "  ", quote: '"', quotedKeys: true, trailingComma: false, compact: false };

/** Reads the style off the text; the first example of each trait decides. */
export function styleOf(text: string, root: Span): TextStyle {
  const members = membersOf(root);
  const first = members[0];
  if (!first) return { ...plainStyle, eol: eolOf(text), quotedKeys: false };
  const unit = /\n([ \t]+)$/.exec(text.slice(root.start, first.start))?.[1] ?? plainStyle.unit;
  const string = members.map((m) => text[m.value.start]).find((c) => c === '"' || c === "'");
  const nameQuote = members.map((m) => text[m.start]).find((c) => c === '"' || c === "'");
  return {
    eol: eolOf(text),
    unit,
    quote: string === "'" || (string === undefined && nameQuote === "'") ? "'" : '"',
    quotedKeys: members.every((m) => /["']/.test(text[m.start] as string)),
    trailingComma: endsWithComma(text, root),
    compact: members.every((m) => m.value.start === m.nameEnd + 1) && !text.slice(root.start, root.end).includes("\n"),
  };
}

function eolOf(text: string): string {
  return /\r\n/.test(text) ? "\r\n" : "\n";
}

function membersOf(span: Span): Array<{ start: number; nameEnd: number; value: Span }> {
  if (span.kind === "object") return span.members.flatMap((m) => [m, ...membersOf(m.value)]);
  return span.kind === "array" ? span.elements.flatMap(membersOf) : [];
}

/** Does a container that goes over lines have a comma after its last member? The outermost such container decides. */
function endsWithComma(text: string, span: Span): boolean {
  const inner = span.kind === "object" ? span.members.map((m) => m.value) : span.kind === "array" ? span.elements : [];
  const last = inner.at(-1);
  if (last && text.slice(span.start, span.end).includes("\n")) return commaAfter(text, last.end, span.end - 1) >= 0;
  return false;
}

/** Offset of the comma in a gap of white space and comments; -1 when there is none. */
export function commaAfter(text: string, from: number, to: number): number {
  const gap = text.slice(from, to);
  const comma = gap.replace(/\/\/[^\n\r\u2028\u2029]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)/g, (comment) => " ".repeat(comment.length)).indexOf(",");
  return comma < 0 ? -1 : from + comma;
}

const identifier = /^[A-Za-z_$][\w$]*$/;

/** A key as the file writes its keys: bare where that is possible and usual there. */
export function formatKey(key: string, style: TextStyle): string {
  return !style.quotedKeys && identifier.test(key) ? key : formatString(key, style.quote);
}

/** A value in JSON5. @param inline on one line, whatever its length; @param indent of the line on which it begins */
export function formatValue(value: unknown, style: TextStyle, at: { indent: string; inline: boolean }): string {
  if (typeof value === "string") return formatString(value, style.quote);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (Array.isArray(value)) {
    const oneLine = at.inline || value.every((v) => typeof v !== "object" || v === null);
    const flat = oneLine
      ? wrap(
          value.map((v) => formatValue(v, style, { ...at, inline: true })),
          "[]",
          style,
          undefined,
        )
      : undefined;
    if (flat !== undefined && (at.inline || flat.length <= 80)) return flat;
    const indent = at.indent + style.unit;
    return wrap(
      value.map((v) => formatValue(v, style, { indent, inline: false })),
      "[]",
      style,
      at.indent,
    );
  }
  if (!isRecord(value)) return String(value);
  const indent = at.indent + style.unit;
  const colon = style.compact ? ":" : ": ";
  const members = Object.entries(value).filter(([, v]) => v !== undefined);
  const items = members.map(([key, v]) => `${formatKey(key, style)}${colon}${formatValue(v, style, { indent, inline: at.inline })}`);
  return wrap(items, "{}", style, at.inline ? undefined : at.indent);
}

/** @param indent of the line with the opening bracket; undefined: all on one line */
function wrap(items: readonly string[], brackets: "{}" | "[]", style: TextStyle, indent: string | undefined): string {
  const [open, close] = [brackets[0], brackets[1]];
  if (items.length === 0) return brackets;
  if (indent === undefined) {
    const pad = brackets === "{}" && !style.compact ? " " : "";
    return `${open}${pad}${items.join(style.compact ? "," : ", ")}${pad}${close}`;
  }
  const lead = `${style.eol}${indent}${style.unit}`;
  return `${open}${items.map((item) => `${lead}${item}`).join(",")}${style.trailingComma ? "," : ""}${style.eol}${indent}${close}`;
}

function formatString(text: string, quote: '"' | "'"): string {
  const json = JSON.stringify(text).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  return quote === '"' ? json : `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
