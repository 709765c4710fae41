import { useMemo, useRef } from "preact/hooks";
import { html } from "../core/html.js";
import { readMarkdown } from "../core/markdown.js";
import { linkPlaces, parsePlace } from "../core/places.js";
import { texts } from "../texts/parts.js";
import { CopyButton } from "./button.js";
import { SourceChip } from "./sources.js";

/**
 * Markdown to elements through the table below. There is no way from text to HTML: raw HTML and images appear as the text they are.
 *
 * @typedef {import("../core/markdown.js").Token} Token
 * @typedef {{ agentId?: string | undefined, top?: number | undefined }} Context `top`: the one level of headings, when it is not that of a chat
 */

/** Above this only what follows the last safe cut is read again while a text grows. */
const LARGE_CHARS = 30_000;

/**
 * @param {{ text: string, agentId?: string | undefined, top?: number | undefined, share?: number }} props `share` of its blocks that are drawn, from 0 to 1
 */
export function Markdown({ text, agentId, top, share = 1 }) {
  const head = useRef({ text: "", tokens: /** @type {Token[]} */ ([]) });
  const tokens = useMemo(() => {
    const cut = text.length > LARGE_CHARS ? stableCut(text) : 0;
    const stable = text.slice(0, cut);
    if (head.current.text !== stable) head.current = { text: stable, tokens: readMarkdown(stable) };
    return [...head.current.tokens, ...readMarkdown(text.slice(cut))];
  }, [text]);
  return html`<div class="md">${blocks(tokens.slice(0, Math.ceil(tokens.length * share)), { agentId, top })}</div>`;
}

/**
 * Where a growing text can be cut so that what stands before never changes: after the last blank line outside a fence. Pure.
 * @param {string} text
 */
export function stableCut(text) {
  let cut = 0;
  let at = 0;
  let inFence = false;
  for (const line of text.split("\n")) {
    at += line.length + 1;
    if (/^ {0,3}(```|~~~)/.test(line)) inFence = !inFence;
    if (!inFence && line.trim() === "" && at <= text.length) cut = at;
  }
  return cut;
}

/** @param {Token[] | undefined} tokens @param {Context} context */
function blocks(tokens, context) {
  return (tokens ?? []).map((token, i) => block(token, i, context));
}

/** @param {Token} token @param {number} key @param {Context} context @returns {any} */
function block(token, key, context) {
  const t = /** @type {any} */ (token);
  switch (t.type) {
    case "heading":
      return heading(t, key, context);
    case "paragraph":
      return html`<p key=${key}>${inlines(t.tokens, context)}</p>`;
    case "text":
      return html`<span key=${key}>${t.tokens ? inlines(t.tokens, context) : plain(t.text, context)}</span>`;
    case "code":
      return codeBlock(t, key);
    case "list":
      return list(t, key, context);
    case "blockquote":
      return html`<blockquote key=${key}>${blocks(t.tokens, context)}</blockquote>`;
    case "table":
      return table(t, key, context);
    case "hr":
      return html`<hr key=${key} />`;
    case "space":
    case "def":
      return null;
    default:
      return html`<p key=${key}>${t.raw ?? t.text ?? ""}</p>`;
  }
}

/** The page has its own first two levels. @param {any} t @param {number} key @param {Context} context */
function heading(t, key, context) {
  const tag = `h${context.top ?? Math.min(6, t.depth + 2)}`;
  return html`<${tag} key=${key}>${inlines(t.tokens, context)}<//>`;
}

/** @param {any} t @param {number} key */
function codeBlock(t, key) {
  const language = /^[\w+#.-]{1,20}/.exec(t.lang ?? "")?.[0] ?? "";
  return html`<div key=${key} class="code">
    <div class="code-bar"><span>${language || "text"}</span><${CopyButton} text=${t.text} label=${texts.copy} /></div>
    <pre tabindex="0"><code>${t.text}</code></pre>
  </div>`;
}

/** @param {any} t @param {number} key @param {Context} context */
function list(t, key, context) {
  const items = t.items.map((/** @type {any} */ item, /** @type {number} */ i) => {
    const box = item.task
      ? html`<input type="checkbox" disabled checked=${item.checked} aria-label=${item.checked ? texts.done : texts.open} /> `
      : null;
    const inner = item.tokens.filter((/** @type {any} */ child) => child.type !== "checkbox");
    return html`<li key=${i} class=${item.task ? "task" : undefined}>${box}${blocks(inner, context)}</li>`;
  });
  return t.ordered ? html`<ol key=${key} start=${t.start === 1 ? undefined : t.start}>${items}</ol>` : html`<ul key=${key}>${items}</ul>`;
}

/** @param {any} t @param {number} key @param {Context} context */
function table(t, key, context) {
  /** @param {any} cell @param {number} i @param {string} tag */
  const cell = (cell, i, tag) =>
    html`<${tag} key=${i} class=${cell.align ? `to-${cell.align}` : undefined}>${inlines(cell.tokens, context)}<//>`;
  return html`<div key=${key} class="table" tabindex="0" role="region" aria-label=${texts.table}>
    <table>
      <thead><tr>${t.header.map((/** @type {any} */ c, /** @type {number} */ i) => cell(c, i, "th"))}</tr></thead>
      <tbody>${t.rows.map((/** @type {any[]} */ row, /** @type {number} */ r) => html`<tr key=${r}>${row.map((c, i) => cell(c, i, "td"))}</tr>`)}</tbody>
    </table>
  </div>`;
}

/** @param {Token[] | undefined} tokens @param {Context} context @returns {any[]} */
function inlines(tokens, context) {
  return (tokens ?? []).map((token, i) => inline(token, i, context));
}

/** @param {Token} token @param {number} key @param {Context} context @returns {any} */
function inline(token, key, context) {
  const t = /** @type {any} */ (token);
  switch (t.type) {
    case "text":
      return t.tokens ? inlines(t.tokens, context) : plain(t.text, context);
    case "escape":
      return t.text;
    case "strong":
      return html`<strong key=${key}>${inlines(t.tokens, context)}</strong>`;
    case "em":
      return html`<em key=${key}>${inlines(t.tokens, context)}</em>`;
    case "del":
      return html`<del key=${key}>${inlines(t.tokens, context)}</del>`;
    case "br":
      return html`<br key=${key} />`;
    case "codespan": {
      const place = parsePlace(t.text);
      return place
        ? html`<${SourceChip} key=${key} place=${place} agentId=${context.agentId} />`
        : html`<code key=${key}>${entities(t.text)}</code>`;
    }
    case "link":
      return link(t, key, context);
    default:
      return t.raw ?? t.text ?? "";
  }
}

/** @param {any} t @param {number} key @param {Context} context */
function link(t, key, context) {
  const place = parsePlace(t.href ?? "");
  if (place) return html`<${SourceChip} key=${key} place=${place} agentId=${context.agentId} />`;
  const href = safeHref(t.href);
  const words = inlines(t.tokens, context);
  return href
    ? html`<a key=${key} href=${href} target="_blank" rel="noreferrer noopener">${words}</a>`
    : html`<span key=${key}>${words}</span>`;
}

/**
 * The address of a link when it is one that may be followed, else undefined. Characters nobody sees are taken out first.
 * @param {unknown} href
 * @returns {string | undefined}
 */
export function safeHref(href) {
  const text = String(href ?? "").replace(/[\p{C}\p{Z}\u200b-\u200f\u2028-\u202f\u2060-\u2064\ufeff]/gu, "");
  return /^(https?:\/\/|mailto:)/i.test(text) ? text : undefined;
}

/** @param {string} text @param {Context} context */
function plain(text, context) {
  return linkPlaces(entities(text)).map((part, i) =>
    typeof part === "string" ? part : html`<${SourceChip} key=${`p${i}`} place=${part} agentId=${context.agentId} />`,
  );
}

/** @type {Record<string, string>} */
const named = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Markdown knows character references; as text nodes they would show as they are written. @param {string} text */
function entities(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name) return named[name] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
