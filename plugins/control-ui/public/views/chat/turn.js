import { useMemo } from "preact/hooks";
import { clock, moment, span } from "../../core/format.js";
import { html } from "../../core/html.js";
import { splitSources } from "../../core/places.js";
import { isOnline, now } from "../../core/store.js";
import { lacksReason } from "../../core/turns.js";
import { texts } from "../../texts/chat.js";
import { Button, CopyButton } from "../../ui/button.js";
import { More } from "../../ui/icons.js";
import { Later, withModule } from "../../ui/later.js";
import { Markdown } from "../../ui/md.js";
import { Sources } from "../../ui/sources.js";

/** @typedef {import("../../core/turns.js").Turn} Turn */
/** @typedef {import("../../core/chat.js").Chat} Chat */

const aside = () => import("./aside.js");
const menu = () => import("./turn-menu.js");
const trouble = () => import("./trouble.js");
const branching = () => import("./branching.js");
const parts = () => import("./parts.js");
/** Fetches what calls of tools look like. */
export const tool = () => import("./tool.js");
export const asked = () => import("./asked.js");

/** A question and everything that came of it. @param {{ turn: Turn, heading: string | undefined, chat: Chat, isShown: boolean, requests?: Map<string, any>,
 *   branch?: import("../../core/branch-facts.js").BranchPoint | undefined, share: number }} props `isShown`: the address leads here; `share`: of the answer is drawn so far */
export function TurnView({ turn, heading, chat, isShown, requests, branch, share }) {
  const agentId = /^agent:([^:]+):/.exec(chat.key)?.[1] ?? "main";
  const questions = turn.items.filter((item) => item.kind === "user");
  const system = turn.items.filter((item) => item.kind === "system");
  const answer = turn.items.filter((item) => item.kind !== "user" && item.kind !== "system");
  const begun = answer.find((item) => "at" in item);
  return html`<article class=${`turn ${isShown ? "shown" : ""}`} aria-current=${isShown ? "location" : undefined} data-turn=${turn.key}>
    ${heading && html`<h2 class="day">${heading}</h2>`}
    ${system.map((item) => html`<${Later} key=${item.id} load=${aside} part="system" item=${item} />`)}
    ${questions.map((item) => html`<${Question} key=${turn.key} item=${item} chat=${chat} />`)}
    ${branch && html`<${Later} load=${branching} point=${branch} />`}
    ${
      share > 0 &&
      (answer.length > 0 || turn.isLive) &&
      html`<div class="answer" key="answer">
        <p class="by muted small"><strong>${agentId}</strong>
          ${begun && "at" in begun ? html` <time title=${moment(begun.at)}>${clock(begun.at)}</time>` : null}
          ${turn.model ? html` <span>${turn.model}</span>` : null}</p>
        ${withKeys(answer).map(({ item, key }) => html`<${AnswerItem} key=${key} item=${item} turn=${turn} chat=${chat} agentId=${agentId} share=${share} request=${requests?.get(item.id)} />`)}
        ${!turn.isLive && answer.some(({ kind }) => kind === "tool") && html`<${Later} load=${aside} part="found" turn=${turn} agentId=${agentId} />`}
        ${turn.isLive ? html`<${Working} turn=${turn} />` : share === 1 && html`<${AnswerActions} turn=${turn} chat=${chat} answer=${answer} />`}
      </div>`
    }
    ${
      questions.length > 0 &&
      !turn.isLive &&
      (answer.length === 0 || lacksReason(turn)) &&
      html`<${Later} load=${trouble} part="ending" turn=${turn} chat=${chat} isBare=${answer.length === 0} />`
    }
  </article>`;
}

/**
 * A text is known by its place among the written: while it is streamed it has another id than when it is stored, and its elements must stay.
 * @param {import("../../core/turns.js").Item[]} items
 */
function withKeys(items) {
  const seen = { text: 0, reasoning: 0 };
  return items.map((item) => ({
    item,
    key: `${item.kind}:${item.kind === "text" || item.kind === "reasoning" ? seen[item.kind]++ : item.id}`,
  }));
}

/** @param {{ item: import("../../core/turns.js").UserItem, chat: Chat }} props */
function Question({ item, chat }) {
  return html`<div class="question">
    ${item.sender && html`<${Later} load=${aside} part="sender" sender=${item.sender} at=${item.at} />`}
    ${!item.sender && html`<span class="sr-only">${texts.you}</span>`}
    <div class="bubble" dir="auto">${item.text}${item.parts && html`<${Later} load=${parts} parts=${item.parts} />`}</div>
    ${item.state === "sending" && html`<p class="muted small">${isOnline.value ? texts.sending : texts.willSentWhen}</p>`}
    ${item.state === "failed" && html`<${Later} load=${trouble} part="unsent" item=${item} chat=${chat} />`}
  </div>`;
}

/** @param {{ item: import("../../core/turns.js").Item, turn: Turn, chat: Chat, agentId: string, share: number, request?: any }} props */
function AnswerItem({ item, turn, chat, agentId, share, request }) {
  if (item.kind === "text") return html`<${Text} item=${item} agentId=${agentId} share=${share} />`;
  if (item.kind === "reasoning") return html`<${Later} load=${aside} part="reasoning" item=${item} />`;
  if (item.kind === "tool")
    return html`<${Later} load=${tool} item=${item} agentId=${agentId} />${request && html`<${Later} load=${asked} list=${[request]} />`}`;
  if (item.kind === "note") return html`<${Later} load=${trouble} part="note" item=${item} turn=${turn} chat=${chat} />`;
  return null;
}

/** @param {{ item: import("../../core/turns.js").TextItem, agentId: string, share: number }} props */
function Text({ item, agentId, share }) {
  const segments = useMemo(() => splitSources(item.text, { isStreaming: item.isStreaming === true }), [item.text, item.isStreaming]);
  return segments.map((segment, i) =>
    segment.kind === "text"
      ? html`<${Markdown} key=${i} text=${segment.text} agentId=${agentId} share=${share} />`
      : html`<${Sources} key=${i} places=${segment.places} agentId=${agentId} />`,
  );
}

/** @param {{ turn: Turn }} props */
function Working({ turn }) {
  if (!isOnline.value) return html`<p class="working muted small">${texts.connectionLostDuring}</p>`;
  const seconds = turn.startedAt === undefined ? "" : ` · ${span(now.value - turn.startedAt)}`;
  return html`<p class="working muted small"><i class="dot busy"></i>${turn.isStopping ? texts.stopping : workWord(turn)}${seconds}</p>`;
}

/** @param {Turn} turn */
function workWord({ position }) {
  if (position === undefined) return texts.answeringLabel;
  return position === 1 ? texts.waitingFreePlace : texts.waitingFreePlaceNumber(position);
}

/** Copying is at hand; all else that can be done with an answer is fetched when somebody asks for it. @param {{ turn: Turn, chat: Chat, answer: import("../../core/turns.js").Item[] }} props */
function AnswerActions({ turn, chat, answer }) {
  const text = answer.flatMap((item) => (item.kind === "text" ? [item.text] : [])).join("\n\n");
  /** @param {any} event */
  const open = ({ currentTarget }) => withModule(menu, ({ openTurnMenu }) => openTurnMenu(currentTarget, { turn, chat }));
  return html`<div class="answer-actions">
    ${text !== "" && html`<${CopyButton} text=${text} label=${texts.copyAnswer} hidesWord=${true} />`}
    <${Button} kind="quiet slim" icon=${More} label=${texts.moreAboutAnswer} aria-haspopup="menu" onClick=${open} />
  </div>`;
}
