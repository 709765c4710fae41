import { useState } from "preact/hooks";
import { clock, moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { uniquePlaces } from "../../core/places.js";
import { placesFound } from "../../core/turns.js";
import { texts } from "../../texts/chat-more.js";
import { Open } from "../../ui/icons.js";
import { LongText } from "../../ui/long-text.js";
import { Sources } from "../../ui/sources.js";

/** Shows what most turns do not have: events and summaries, names of people on channels, reasoning, places that an answer does not cite. @param {{ part: "system" | "sender" | "reasoning" | "found", [prop: string]: any }} props */
export default function Aside({ part, ...props }) {
  const View = { system: System, sender: Sender, reasoning: Reasoning, found: Found }[part];
  return html`<${View} ...${props} />`;
}

const labels = { heartbeat: texts.heartbeat, event: texts.event, summary: texts.summaryOlderMessages };

/** Shows an event that the gateway passed to the agent, or a summary that stands for older messages; no person wrote it, so it stays in the background. @param {{ item: import("../../core/turns.js").SystemItem }} props */
function System({ item }) {
  return html`<details class="system muted small">
    <summary><span class="turnable"><${Open} /></span><span>${labels[item.about]}</span>
      ${item.about === "event" && html`<span class="cut">${item.text.split("\n", 1)[0]}</span>`}
      <time title=${moment(item.at)}>${clock(item.at)}</time></summary>
    <p>${item.text}</p>
  </details>`;
}

/** Names whoever wrote on a channel. The name is a stranger's: its direction of writing ends with it, and the id says who it is. @param {{ sender: import("../../core/turns.js").Sender, at: number }} props */
function Sender({ sender: { id, name, channel }, at }) {
  const where = channel === undefined ? id : texts.personOnChannel({ id, channel });
  return html`<p class="by muted small" title=${where}><strong><bdi>${name ?? id}</bdi></strong>
    ${name !== undefined && name !== id ? html` <bdi>${id}</bdi>` : null}
    ${channel === undefined ? null : html` <span>${channel}</span>`}
    ${html` <time title=${moment(at)}>${clock(at)}</time>`}</p>`;
}

/** Folded: how an answer was thought of is seldom what somebody came for. @param {{ item: import("../../core/turns.js").ReasoningItem }} props */
function Reasoning({ item: { text, isStreaming, isSealed } }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="system reasoning muted small" onToggle=${(/** @type {any} */ e) => setOpen(e.currentTarget.open)}>
    <summary><span class="turnable"><${Open} /></span>${isStreaming ? html`<i class="dot busy"></i><span>${texts.thinking}</span>` : html`<span>${texts.thought}</span>`}</summary>
    ${isOpen && html`<${LongText} text=${text || (isSealed ? texts.vendorModelKeeps : "…")} />`}
  </details>`;
}

/** Places shown below an answer that cites none itself. */
const MAX_FOUND = 4;

/** Shows the hits of a turn's searches, for an answer that cites no source itself. @param {{ turn: import("../../core/turns.js").Turn, agentId: string }} props */
function Found({ turn, agentId }) {
  const written = turn.items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
  if (written.length === 0 || written.some((text) => text.includes("#L"))) return null;
  const places = uniquePlaces(placesFound(turn)).slice(0, MAX_FOUND);
  return places.length === 0
    ? null
    : html`<div class="found"><p class="muted small">${texts.looked}</p><${Sources} places=${places} agentId=${agentId} /></div>`;
}
