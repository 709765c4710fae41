import { idsOf, sameValue, type Tree } from "../../sdk/config/tree.ts";
import { formatConfigPath } from "../../sdk/internal/config-paths.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { json5Spans, type MemberSpan, type Span } from "./json5-spans.ts";
import { parseJson5 } from "./parse-json5.ts";
import { type Item, type PlanStep, rebuildContainer } from "./rebuild-container.ts";
import { formatKey, formatValue, plainStyle, styleOf, type TextStyle } from "./text-style.ts";

/** A changed text, and what the change cost. */
export interface EditedText {
  text: string;
  /** Paths whose comments the new text no longer has; `""` = the whole file was written anew. */
  lost: string[];
}

/**
 * Changes JSON5 text so that it reads as `next`. What did not change keeps its bytes: comments, order of keys, layout, notation; what is new
 * follows the style of the file. Equal values give the same text. A replaced value loses the comments inside it; when the layout cannot be
 * followed at all the text is written anew.
 * @param current what the parser makes of `text`
 */
export function editText(text: string, { current, next }: { current: unknown; next: unknown }): EditedText {
  if (sameValue(current, next)) return { text, lost: [] };
  try {
    const root = json5Spans(text);
    const edit: Edit = { text, style: styleOf(text, root), lost: [] };
    const body = patched(edit, { span: root, current, next, path: [], inline: false });
    const made = text.slice(0, root.start) + body + text.slice(root.end);
    if (sameValue(parseJson5(made), next)) return { text: made, lost: edit.lost };
  } catch {
    // a layout that this editor does not follow: below
  }
  return { text: freshText(next), lost: /\/\/|\/\*/.test(text) ? [""] : [] };
}

/** A new file with this value. */
export function freshText(value: unknown): string {
  return `${formatValue(value, plainStyle, { indent: "", inline: false })}\n`;
}

interface Edit {
  text: string;
  style: TextStyle;
  lost: string[];
}

interface Change {
  span: Span;
  current: unknown;
  next: unknown;
  path: ReadonlyArray<string | number>;
  /** Something around it is on one line, so it has to be too. */
  inline: boolean;
}

function patched(edit: Edit, change: Change): string {
  const { span, current, next } = change;
  if (sameValue(current, next)) return edit.text.slice(span.start, span.end);
  if (span.kind === "object" && isRecord(current) && isRecord(next)) return patchedObject(edit, span, { ...change, current, next });
  if (span.kind === "array" && Array.isArray(current) && Array.isArray(next)) {
    const plan = arrayPlan(current, next);
    if (plan) return patchedArray(edit, span, { ...change, current, next }, plan);
  }
  noteLost(edit, span, change.path);
  return formatValue(next, styleFor(edit, span), { indent: lineIndent(edit.text, span.start), inline: change.inline });
}

/** A text that replaces a text keeps its quotes. */
function styleFor(edit: Edit, span: Span): TextStyle {
  const quote = edit.text[span.start];
  return span.kind === "scalar" && (quote === '"' || quote === "'") ? { ...edit.style, quote } : edit.style;
}

function noteLost(edit: Edit, span: Span, path: Change["path"]): void {
  if (span.kind === "scalar") return;
  const strings = /"(?:[^"\\]|\\[\s\S])*"?|'(?:[^'\\]|\\[\s\S])*'?/g;
  if (/\/\/|\/\*/.test(edit.text.slice(span.start, span.end).replace(strings, ""))) edit.lost.push(formatConfigPath(path));
}

function patchedObject(edit: Edit, span: Span & { kind: "object" }, change: Change & { current: Tree; next: Tree }): string {
  const { current, next } = change;
  const wanted = Object.keys(next).filter((key) => next[key] !== undefined);
  const inline = isInline(edit, span) || (change.inline && !goesOverLines(edit, span));
  // Of a key that stands twice the parser takes the last.
  const effective = new Map(span.members.map((member) => [member.name, member]));
  const plan: PlanStep[] = [];
  for (const [i, member] of span.members.entries()) {
    if (!wanted.includes(member.name)) {
      noteLost(edit, member.value, [...change.path, member.name]);
      continue;
    }
    plan.push({ keep: i, body: effective.get(member.name) === member ? memberText(edit, member, change, inline) : sliceOf(edit, member) });
  }
  const colon = edit.style.compact ? ":" : ": ";
  const indent = inline ? "" : itemIndent(edit, span);
  for (const key of wanted.filter((k) => !Object.hasOwn(current, k))) {
    plan.push({ insert: `${formatKey(key, edit.style)}${colon}${formatValue(next[key], edit.style, { indent, inline })}` });
  }
  const items = span.members.map((m): Item => ({ start: m.start, end: m.value.end }));
  return rebuildContainer({
    text: edit.text,
    span,
    items,
    plan,
    inline,
    style: edit.style,
    indent,
    outer: lineIndent(edit.text, span.start),
  });
}

function memberText(edit: Edit, member: MemberSpan, change: Change & { current: Tree; next: Tree }, inline: boolean): string {
  const { name, value } = member;
  const inner = patched(edit, {
    span: value,
    current: change.current[name],
    next: change.next[name],
    path: [...change.path, name],
    inline,
  });
  return edit.text.slice(member.start, value.start) + inner;
}

function sliceOf(edit: Edit, member: MemberSpan): string {
  return edit.text.slice(member.start, member.value.end);
}

type ArrayChange = Change & { current: unknown[]; next: unknown[] };

function patchedArray(edit: Edit, span: Span & { kind: "array" }, change: ArrayChange, plan: Array<number | undefined>): string {
  const { current, next, path } = change;
  const scalars = [...current, ...next].every((v) => typeof v !== "object" || v === null);
  const inline = isInline(edit, span) || ((change.inline || (span.elements.length === 0 && scalars)) && !goesOverLines(edit, span));
  const indent = inline ? "" : itemIndent(edit, span);
  span.elements.forEach((element, i) => {
    if (!plan.includes(i)) noteLost(edit, element, [...path, i]);
  });
  const steps = plan.map((from, i): PlanStep => {
    if (from === undefined) return { insert: formatValue(next[i], edit.style, { indent, inline }) };
    const element = span.elements[from] as Span;
    return { keep: from, body: patched(edit, { span: element, current: current[from], next: next[i], path: [...path, from], inline }) };
  });
  const items = span.elements.map((e): Item => ({ start: e.start, end: e.end }));
  return rebuildContainer({
    text: edit.text,
    span,
    items,
    plan: steps,
    inline,
    style: edit.style,
    indent,
    outer: lineIndent(edit.text, span.start),
  });
}

/**
 * Maps each member of the new list to the old one it is made from, or undefined. Lists of `{id}` are matched by id, others from both ends.
 * @returns undefined when members changed places: text is not moved around
 */
function arrayPlan(current: readonly unknown[], next: readonly unknown[]): Array<number | undefined> | undefined {
  const [oldIds, newIds] = [idsOf(current), idsOf(next)];
  if (oldIds && newIds && oldIds.length > 0) {
    const renamed = (i: number) => oldIds.length === newIds.length && !newIds.includes(oldIds[i] as string);
    const plan = newIds.map((id, i) => (oldIds.includes(id) ? oldIds.indexOf(id) : renamed(i) ? i : undefined));
    const kept = plan.filter((from) => from !== undefined);
    return kept.every((from, i) => i === 0 || from > (kept[i - 1] as number)) ? plan : undefined;
  }
  const shorter = Math.min(current.length, next.length);
  let head = 0;
  while (head < shorter && sameValue(current[head], next[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && sameValue(current[current.length - 1 - tail], next[next.length - 1 - tail])) tail += 1;
  return next.map((_, i) => {
    if (i >= next.length - tail) return current.length - next.length + i;
    return i < current.length - tail ? i : undefined;
  });
}

function goesOverLines(edit: Edit, span: Span): boolean {
  return edit.text.slice(span.start, span.end).includes("\n");
}

/** Are its members all on the line of its brackets, whatever they hold themselves? */
function isInline(edit: Edit, span: Span): boolean {
  if (goesOverLines(edit, span)) return !betweenItems(edit, span).includes("\n");
  const empty = span.kind === "object" ? span.members.length === 0 : span.kind === "array" && span.elements.length === 0;
  return !empty;
}

/** White space and comments of a container, without its members. */
function betweenItems(edit: Edit, span: Span): string {
  const items = span.kind === "object" ? span.members.map((m) => [m.start, m.value.end]) : [];
  const spans = span.kind === "array" ? span.elements.map((e) => [e.start, e.end]) : items;
  let at = span.start;
  let text = "";
  for (const [start, end] of spans as Array<[number, number]>) {
    text += edit.text.slice(at, start);
    at = end;
  }
  return text + edit.text.slice(at, span.end);
}

/** Indentation of a new member: that of the first one that stands on a line of its own. */
function itemIndent(edit: Edit, span: Span): string {
  const starts = span.kind === "object" ? span.members.map((m) => m.start) : span.kind === "array" ? span.elements.map((e) => e.start) : [];
  for (const start of starts) {
    const indent = /(?:^|\n)([ \t]*)$/.exec(edit.text.slice(0, start))?.[1];
    if (indent !== undefined) return indent;
  }
  return lineIndent(edit.text, span.start) + edit.style.unit;
}

function lineIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
