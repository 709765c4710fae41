import { decimal, plain, plural, span } from "../../core/format.js";
import { html } from "../../core/html.js";
import { formatPlace, hitsOf } from "../../core/places.js";
import { Panels } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { Open, Tool } from "../../ui/icons.js";
import { LongText } from "../../ui/long-text.js";
import { SourceChip } from "../../ui/sources.js";

/** @typedef {import("../../core/turns.js").ToolItem} ToolItem */

/** One closed row: what was called, with what, how it ended. @param {{ item: ToolItem, agentId: string }} props */
export default function ToolCall({ item, agentId }) {
  const hits = item.name === "memory_search" ? hitsOf(item) : undefined;
  const argument = firstArgument(item.args);
  return html`<details class=${`tool ${item.state}`}>
    <summary>
      <span class="turnable"><${Open} /></span><${Tool} />
      <code>${item.name}</code>
      ${argument && html`<span class="cut muted">${argument}</span>`}
      <span class="outcome">${outcomeOf(item, hits)}</span>
    </summary>
    <div class="body">${hits && hits.length > 0 ? html`<${Hits} hits=${hits} agentId=${agentId} />` : html`<${Plain} item=${item} />`}
      ${Panels.value && html`<${Panels.value} at="tool" subject=${{ tool: item.name, toolCallId: item.id }} />`}</div>
  </details>`;
}

/** @param {{ hits: NonNullable<ReturnType<typeof hitsOf>>, agentId: string }} props */
function Hits({ hits, agentId }) {
  return html`<ol class="hits">${hits.map(
    (hit) => html`<li key=${formatPlace(hit)}>
      <div class="line"><${SourceChip} place=${hit} agentId=${agentId} />${hit.score === undefined ? null : html`<span class="muted small">${texts.score(decimal(hit.score, 2, 2))}</span>`}</div>
      ${hit.snippet && html`<p class="snippet muted small">${plain(hit.snippet)}</p>`}
    </li>`,
  )}</ol>`;
}

/** @param {{ item: ToolItem }} props */
function Plain({ item }) {
  return html`
    <p class="muted small">${texts.arguments}</p><${LongText} text=${JSON.stringify(item.args ?? {}, null, 2)} />
    ${item.progress && item.state === "running" && html`<p class="muted small">${texts.progress}</p><${LongText} text=${item.progress} />`}
    ${item.text !== undefined && html`<p class="muted small">${item.state === "error" ? texts.errorLabel : texts.resultLabel}</p><${LongText} text=${item.text} />`}
  `;
}

/** @param {ToolItem} item @param {ReturnType<typeof hitsOf>} hits */
function outcomeOf(item, hits) {
  const took = item.ms === undefined || item.ms < 1_000 ? "" : `, ${span(item.ms)}`;
  if (item.state === "running") return html`<i class="dot busy"></i> <span class="cut">${lastLine(item.progress) || texts.running}</span>`;
  if (item.state === "unknown") return texts.noResult;
  if (item.state === "error") return texts.failed({ firstLine: firstLine(item.text), took });
  return `${hits ? plural(hits.length, texts.hits) : texts.done}${took}`;
}

/** @param {unknown} args */
function firstArgument(args) {
  const value = typeof args === "object" && args !== null ? Object.values(args)[0] : undefined;
  if (typeof value === "string") return `“${value}”`;
  return value === undefined ? "" : JSON.stringify(value);
}

/** @param {string | undefined} text */
function firstLine(text) {
  return (text ?? "").split("\n", 1)[0]?.slice(0, 160) ?? "";
}

/** Last line of the progress of a tool at work. @param {string | undefined} text */
function lastLine(text) {
  return (text ?? "").trimEnd().split("\n").at(-1)?.slice(0, 160) ?? "";
}
