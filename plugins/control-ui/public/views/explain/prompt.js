import { useState } from "preact/hooks";
import { messageTitle, turnsAsked } from "../../core/explain-facts.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { texts } from "../../texts/explain.js";
import { Button } from "../../ui/button.js";
import { LongText } from "../../ui/long-text.js";
import { Fold, Section, textOf } from "./parts.js";

/** @typedef {import("../../core/explain-facts.js").Prompt} PromptOfTurn */
/** @typedef {import("../../core/explain-facts.js").PromptMessage} PromptMessage */

/** Messages drawn at a time, from the newest back. */
const STEP = 20;

/** Shows what the model was sent for one turn: instructions, tools and messages, each folded. @param {{ prompt: PromptOfTurn, attempts: import("../../core/explain-facts.js").Attempt[], onTurn: (turn: number) => void }} props */
export function Prompt({ prompt, attempts, onTurn }) {
  const [shown, setShown] = useState(STEP);
  const turns = turnsAsked(attempts);
  const { system, systemChars, tools, messages, messageCount, thinking, isExact, notes } = prompt;
  const first = Math.max(0, messages.length - shown);
  return html`<${Section} id="prompt" title=${texts.prompt} note=${`${prompt.model}${thinking ? texts.thinking(thinking) : ""}`}>
    ${
      turns.length > 1 &&
      html`<div class="choice" role="group" aria-label=${texts.turnRun}>${turns.map(
        (turn) =>
          html`<button key=${turn} type="button" aria-pressed=${turn === prompt.turn} onClick=${() => onTurn(turn)}>${texts.turnOf(turn)}</button>`,
      )}</div>`
    }
    <p class="muted small">${isExact ? texts.sentButSecrets : texts.notAllSent}</p>
    ${notes.length > 0 && html`<ul class="muted small">${notes.map((note, i) => html`<li key=${i} class="wrap">${note}</li>`)}</ul>`}
    <${Fold} title=${texts.instructions} facts=${[texts.charactersOf(count(systemChars))]} draw=${() => html`<${LongText} text=${system} label=${texts.instructions} />`} />
    ${tools.length > 0 && html`<${Fold} title=${texts.toolsOffer} facts=${[plural(tools.length, texts.toolCount)]} draw=${() => html`<${Offered} tools=${tools} />`} />`}
    ${first > 0 && html`<p class="line muted small">${texts.olderMessages(count(first))} <${Button} kind="slim" onClick=${() => setShown(shown + STEP)}>${texts.showMore(Math.min(STEP, first))}<//></p>`}
    ${messages.slice(first).map((message, i) => html`<${Message} key=${first + i} message=${message} />`)}
    ${messageCount > messages.length && html`<p class="muted small">${texts.messagesOf({ messages: count(messages.length), messageCount: count(messageCount) })}</p>`}
  <//>`;
}

/** @param {{ tools: PromptOfTurn["tools"] }} props */
function Offered({ tools }) {
  return tools.map(
    ({ name, description, inputSchema }) => html`<${Fold} key=${name} title=${html`<code>${name}</code>`} facts=${[]}
      draw=${() => html`<${LongText} text=${description} label=${texts.description(name)} /><${LongText} text=${textOf(inputSchema)} label=${texts.argumentsOf(name)} />`} />`,
  );
}

/** @param {{ message: PromptMessage }} props */
function Message({ message }) {
  const { role, facts } = messageTitle(message);
  const { text, reasoning, calls = [], isError } = message;
  return html`<${Fold} title=${html`<strong>${role}</strong> <span class="muted">${text.slice(0, 120)}</span>`} facts=${facts} isBad=${isError}
    draw=${() => html`
      ${reasoning && html`<p class="muted small">${texts.reasoning}</p><${LongText} text=${reasoning} label=${texts.reasoning} />`}
      ${text !== "" && html`<${LongText} text=${text} label=${texts.message(role)} />`}
      ${calls.map((call, i) => html`<p key=${`n${i}`} class="muted small">${texts.call} <code>${call.name}</code></p><${LongText} key=${i} text=${textOf(call.arguments)} label=${texts.argumentsOf(call.name)} />`)}`} />`;
}
