import { commentEnd } from "./json5-spans.ts";
import { commaAfter, type TextStyle } from "./text-style.ts";

/** A member of an object or list: offsets in the text. */
export interface Item {
  start: number;
  end: number;
}

/** Next item of the new container: an old member with its new text, or a new one. Old members keep their order; one not named goes. */
export type PlanStep = { keep: number; body: string } | { insert: string };

interface Rebuild {
  text: string;
  /** Brackets included. */
  span: Item;
  items: readonly Item[];
  plan: readonly PlanStep[];
  inline: boolean;
  style: TextStyle;
  /** Indentation of the members, and of the line with the opening bracket. */
  indent: string;
  outer: string;
}

/** One member with the blanks and comments before it and those between it and its comma. */
interface Piece {
  lead: string;
  body: string;
  pre: string;
}

/**
 * The text of an object or list after members were changed, added or taken out. White space and comments between members stay where they are;
 * commas are set anew, with one after the last member if there was one.
 */
export function rebuildContainer(job: Rebuild): string {
  const gaps = gapsOf(job);
  const pieces: Piece[] = [];
  let pending = gaps.lead;
  let next = 0;
  const dropUntil = (end: number) => {
    for (; next < end; next++) pending = withoutItem(pending, gaps.pre[next] + (gaps.post[next] as string), next === job.items.length - 1);
  };
  for (const step of job.plan) {
    if ("insert" in step) {
      // New members come after the last old one that is left; those behind are gone then.
      if (!job.plan.slice(job.plan.indexOf(step)).some((s) => "keep" in s)) dropUntil(job.items.length);
      const split = splitForInsert(job, pending, pieces.length === 0);
      pieces.push({ lead: split.lead, body: step.insert, pre: "" });
      pending = split.rest;
      continue;
    }
    dropUntil(step.keep);
    pieces.push({ lead: pending, body: step.body, pre: gaps.pre[step.keep] ?? "" });
    pending = gaps.post[step.keep] ?? "";
    next = step.keep + 1;
  }
  dropUntil(job.items.length);
  const [open, close] = [job.text[job.span.start], job.text[job.span.end - 1]];
  if (pieces.length === 0) return `${open}${pending.trim() === "" ? "" : pending}${close}`;
  const comma = job.items.length > 0 ? gaps.trailing : job.style.trailingComma && !job.inline;
  const body = pieces.map((p, i) => `${p.lead}${p.body}${p.pre}${i < pieces.length - 1 || comma ? "," : ""}`).join("");
  return `${open}${body}${pending}${close}`;
}

function gapsOf({ text, span, items }: Rebuild): { lead: string; pre: string[]; post: string[]; trailing: boolean } {
  const pre: string[] = [];
  const post: string[] = [];
  let trailing = false;
  for (const [i, item] of items.entries()) {
    const to = items[i + 1]?.start ?? span.end - 1;
    const comma = commaAfter(text, item.end, to);
    if (i === items.length - 1) trailing = comma >= 0;
    pre.push(comma < 0 ? "" : text.slice(item.end, comma));
    post.push(text.slice(comma < 0 ? item.end : comma + 1, to));
  }
  return { lead: text.slice(span.start + 1, items[0]?.start ?? span.end - 1), pre, post, trailing };
}

/** Joins the text between two neighbours once the member between them is removed: keeps every comment, and one line break where there were two. */
function withoutItem(before: string, after: string, wasLast: boolean): string {
  const rest = after.replace(/^[ \t]+/, "");
  const startsLine = /^\r?\n/.test(rest);
  if (before.trim() === "") {
    if (startsLine) return after;
    if (rest.trim() === "" && rest === "") return wasLast ? after : before;
    return before + rest;
  }
  if (startsLine) return before.trimEnd() + after;
  return endsInLineComment(before) ? before + rest : `${before.trimEnd()}${after === "" && !wasLast ? " " : after}`;
}

function endsInLineComment(text: string): boolean {
  for (let i = 0; i < text.length; ) {
    const end = commentEnd(text, i);
    if (end > i && text.slice(end).trim() === "") return text.startsWith("//", i);
    i = end > i ? end : i + 1;
  }
  return false;
}

/** A new member goes behind a comment that ends the line of the one before it, and before those on lines of their own. */
function splitForInsert(job: Rebuild, pending: string, isFirst: boolean): { lead: string; rest: string } {
  const { style, indent, outer } = job;
  if (job.inline) {
    const second = job.items.length > 1 ? job.text.slice((job.items[0] as Item).end, (job.items[1] as Item).start) : undefined;
    const blank = second !== undefined && /^,\s*$/.test(second) ? second.slice(1) : style.compact ? "" : " ";
    if (!isFirst) return { lead: pending.trim() === "" ? blank : `${pending.trimEnd()} `, rest: pending.slice(pending.trimEnd().length) };
    const pad = job.text[job.span.start] === "{" && !style.compact ? " " : "";
    if (job.items.length === 0) return pending.trim() === "" ? { lead: pad, rest: pad } : { lead: `${pending.trimEnd()} `, rest: pad };
    return { lead: /^[ \t]*/.exec(pending)?.[0] ?? "", rest: `${blank}${pending.trimStart()}` };
  }
  const lineBreak = pending.search(/\r?\n/);
  const sameLine = (lineBreak < 0 ? pending : pending.slice(0, lineBreak)).trimEnd();
  const rest = lineBreak < 0 ? (job.items.length === 0 ? `${style.eol}${outer}` : "") : pending.slice(lineBreak);
  return { lead: `${sameLine}${style.eol}${indent}`, rest };
}
