import { useMemo } from "preact/hooks";
import { retry, send } from "../../core/delivery.js";
import { clock, moment, span } from "../../core/format.js";
import { html } from "../../core/html.js";
import { dropOutgoing } from "../../core/outbox.js";
import { splitSources, uniquePlaces } from "../../core/places.js";
import { sessionRow } from "../../core/sessions.js";
import { isOnline, now, readOnlyReason } from "../../core/store.js";
import { placesFound } from "../../core/turns.js";
import { Button, CopyButton } from "../../ui/button.js";
import { Open } from "../../ui/icons.js";
import { Markdown } from "../../ui/md.js";
import { Sources } from "../../ui/sources.js";
import { fillComposer } from "./composer.js";
import { followSent } from "./follow.js";
import { ToolCall } from "./tool.js";

/** @typedef {import("../../core/turns.js").Turn} Turn */
/** @typedef {import("../../core/chat.js").Chat} Chat */

/** Places shown below an answer that cites none itself. */
const MAX_FOUND = 4;

/** A question and everything that came of it. @param {{ turn: Turn, heading: string | undefined, chat: Chat, isShown: boolean }} props `isShown`: the address leads here */
export function TurnView({ turn, heading, chat, isShown }) {
  const agentId = /^agent:([^:]+):/.exec(chat.key)?.[1] ?? "main";
  const questions = turn.items.filter((item) => item.kind === "user");
  const system = turn.items.filter((item) => item.kind === "system");
  const answer = turn.items.filter((item) => item.kind !== "user" && item.kind !== "system");
  const begun = answer.find((item) => "at" in item);
  return html`<article class=${`turn ${isShown ? "shown" : ""}`} aria-current=${isShown ? "location" : undefined} data-turn=${turn.key}>
    ${heading && html`<h2 class="day">${heading}</h2>`}
    ${system.map((item) => html`<${System} key=${item.id} item=${item} />`)}
    ${questions.map((item) => html`<${Question} key=${turn.key} item=${item} />`)}
    ${
      (answer.length > 0 || turn.isLive) &&
      html`<div class="answer" key="answer">
        <p class="by muted small"><strong>${agentId}</strong>
          ${begun && "at" in begun ? html` <time title=${moment(begun.at)}>${clock(begun.at)}</time>` : null}
          ${turn.model ? html` <span>${turn.model}</span>` : null}</p>
        ${withKeys(answer).map(({ item, key }) => html`<${AnswerItem} key=${key} item=${item} chat=${chat} agentId=${agentId} />`)}
        <${Found} turn=${turn} agentId=${agentId} />
        ${turn.isLive ? html`<${Working} turn=${turn} />` : html`<${AnswerActions} items=${answer} />`}
      </div>`
    }
    ${answer.length === 0 && !turn.isLive && questions.length > 0 && html`<${Unanswered} turn=${turn} chat=${chat} />`}
  </article>`;
}

/**
 * A text is known by its place among the texts: while it is streamed it has another id than when it is stored, and its elements must stay.
 * @param {import("../../core/turns.js").Item[]} items
 */
function withKeys(items) {
  let texts = 0;
  return items.map((item) => ({ item, key: item.kind === "text" ? `text:${texts++}` : `${item.kind}:${item.id}` }));
}

const labels = { heartbeat: "Heartbeat", event: "Event", summary: "Summary of older messages" };

/** Shows an event that the gateway passed to the agent, or a summary that stands for older messages; no person wrote it, so it stays in the background. @param {{ item: import("../../core/turns.js").SystemItem }} props */
function System({ item }) {
  return html`<details class="system muted small">
    <summary><span class="turnable"><${Open} /></span><span>${labels[item.about]}</span>
      ${item.about === "event" && html`<span class="cut">${item.text.split("\n", 1)[0]}</span>`}
      <time title=${moment(item.at)}>${clock(item.at)}</time></summary>
    <p>${item.text}</p>
  </details>`;
}

/** @param {{ item: import("../../core/turns.js").UserItem }} props */
function Question({ item }) {
  return html`<div class="question">
    ${item.sender && html`<${Sender} sender=${item.sender} at=${item.at} />`}
    <div class="bubble">${item.text}${item.images > 0 ? html`<span class="muted small">${item.images === 1 ? "1 image" : `${item.images} images`}</span>` : null}${item.files.map((name, i) => html`<span key=${i} class="muted small"><bdi>${name}</bdi></span>`)}</div>
    ${item.state === "sending" && html`<p class="muted small">${isOnline.value ? "Sending…" : "Will be sent when the connection is back"}</p>`}
    ${item.state === "failed" && html`<${Unsent} item=${item} />`}
  </div>`;
}

/** Names whoever wrote on a channel. The name is a stranger's: its direction of writing ends with it, and the id says who it is. @param {{ sender: import("../../core/turns.js").Sender, at: number }} props */
function Sender({ sender: { id, name, channel }, at }) {
  const where = channel === undefined ? id : `${id} on ${channel}`;
  return html`<p class="by muted small" title=${where}><strong><bdi>${name ?? id}</bdi></strong>
    ${name !== undefined && name !== id ? html` <bdi>${id}</bdi>` : null}
    ${channel === undefined ? null : html` <span>${channel}</span>`}
    ${html` <time title=${moment(at)}>${clock(at)}</time>`}</p>`;
}

/** @param {{ item: import("../../core/turns.js").UserItem }} props */
function Unsent({ item }) {
  const edit = () => {
    dropOutgoing(item.id);
    fillComposer(item.text);
  };
  return html`<div class="unsent" role="alert">
    <p class="small">Not sent. ${item.error ?? ""}</p>
    <div class="actions">
      <${Button} kind="slim" blocked=${readOnlyReason.value} onClick=${() => retry(item.id)}>Retry<//>
      <${Button} kind="slim" onClick=${edit}>Edit<//>
    </div>
  </div>`;
}

/** @param {{ item: import("../../core/turns.js").Item, chat: Chat, agentId: string }} props */
function AnswerItem({ item, chat, agentId }) {
  if (item.kind === "text") return html`<${Text} item=${item} agentId=${agentId} />`;
  if (item.kind === "tool") return html`<${ToolCall} item=${item} agentId=${agentId} />`;
  if (item.kind === "note") return html`<${Note} item=${item} chat=${chat} />`;
  return null;
}

/** @param {{ item: import("../../core/turns.js").TextItem, agentId: string }} props */
function Text({ item, agentId }) {
  const segments = useMemo(() => splitSources(item.text, { isStreaming: item.isStreaming === true }), [item.text, item.isStreaming]);
  return segments.map((segment, i) =>
    segment.kind === "text"
      ? html`<${Markdown} key=${i} text=${segment.text} agentId=${agentId} />`
      : html`<${Sources} key=${i} places=${segment.places} agentId=${agentId} />`,
  );
}

/** Shows the hits of this turn's searches, for an answer that cites no source itself. @param {{ turn: Turn, agentId: string }} props */
function Found({ turn, agentId }) {
  if (turn.isLive) return null;
  const texts = turn.items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
  if (texts.length === 0 || texts.some((text) => text.includes("#L"))) return null;
  const places = uniquePlaces(placesFound(turn)).slice(0, MAX_FOUND);
  return places.length === 0
    ? null
    : html`<div class="found"><p class="muted small">Looked at</p><${Sources} places=${places} agentId=${agentId} /></div>`;
}

/** @param {{ turn: Turn }} props */
function Working({ turn }) {
  if (!isOnline.value) return html`<p class="working muted small">The connection was lost during this answer.</p>`;
  const seconds = turn.startedAt === undefined ? "" : ` · ${span(now.value - turn.startedAt)}`;
  return html`<p class="working muted small"><i class="dot busy"></i>${turn.isStopping ? "Stopping…" : workWord(turn)}${seconds}</p>`;
}

/** @param {Turn} turn */
function workWord({ position }) {
  if (position === undefined) return "Answering";
  return position === 1 ? "Waiting for a free place: next" : `Waiting for a free place: number ${position}`;
}

/** @param {{ items: import("../../core/turns.js").Item[] }} props */
function AnswerActions({ items }) {
  const text = items.flatMap((item) => (item.kind === "text" ? [item.text] : [])).join("\n\n");
  return text === "" ? null : html`<div class="answer-actions"><${CopyButton} text=${text} label="Copy answer" hidesWord=${true} /></div>`;
}

/** @param {{ item: import("../../core/turns.js").NoteItem, chat: Chat }} props */
function Note({ item, chat }) {
  const { retry: question } = item;
  return html`<div class=${`note ${item.level}`} role=${item.level === "bad" ? "alert" : undefined}>
    <p>${item.text}</p>
    ${question && html`<${AskAgain} question=${question} chat=${chat} />`}
  </div>`;
}

const endings = /** @type {Record<string, string>} */ ({
  interrupted: "The gateway stopped during this answer.",
  failed: "This question got no answer: the run failed.",
  timeout: "This question got no answer: the run took too long.",
  killed: "Stopped before there was an answer.",
});

/** The last question of a session whose run ended without an answer. @param {{ turn: Turn, chat: Chat }} props */
function Unanswered({ turn, chat }) {
  const row = sessionRow(chat.key);
  const question = turn.items.find((item) => item.kind === "user");
  const why = row && row.lastRunId === turn.key && !row.hasActiveRun ? endings[row.status ?? ""] : undefined;
  if (question?.state === "sent" || (row?.activeRunIds?.includes(turn.key) && !turn.isLive)) {
    return html`<p class="working muted small"><i class="dot busy"></i>Waiting for its turn</p>`;
  }
  if (!why || !question || question.state) return null;
  return html`<div class="note bad"><p>${why}</p><${AskAgain} question=${question.text} chat=${chat} /></div>`;
}

/** A new run, so a new key: the old one would only repeat its outcome. @param {{ question: string, chat: Chat }} props */
function AskAgain({ question, chat }) {
  const again = () => {
    send(chat.key, question);
    followSent();
  };
  return html`<div class="actions">
    <${Button} kind="slim" blocked=${readOnlyReason.value} onClick=${again}>Ask again<//>
    <${Button} kind="slim" onClick=${() => fillComposer(question)}>Edit<//>
  </div>`;
}
