import { useState } from "preact/hooks";
import { messageTitle, turnsAsked } from "../../core/explain-facts.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
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
  return html`<${Section} id="prompt" title="Prompt" note=${`${prompt.model}${thinking ? `, thinking ${thinking}` : ""}`}>
    ${
      turns.length > 1 &&
      html`<div class="choice" role="group" aria-label="Turn of the run">${turns.map(
        (turn) =>
          html`<button key=${turn} type="button" aria-pressed=${turn === prompt.turn} onClick=${() => onTurn(turn)}>Turn ${turn}</button>`,
      )}</div>`
    }
    <p class="muted small">${isExact ? "As it was sent, but for secrets, which are masked, and pictures." : "Not all of it is as it was sent:"}</p>
    ${notes.length > 0 && html`<ul class="muted small">${notes.map((note, i) => html`<li key=${i} class="wrap">${note}</li>`)}</ul>`}
    <${Fold} title="Instructions" facts=${[`${count(systemChars)} characters`]} draw=${() => html`<${LongText} text=${system} label="Instructions" />`} />
    ${tools.length > 0 && html`<${Fold} title="Tools on offer" facts=${[plural(tools.length, "tool")]} draw=${() => html`<${Offered} tools=${tools} />`} />`}
    ${first > 0 && html`<p class="line muted small">${count(first)} older messages <${Button} kind="slim" onClick=${() => setShown(shown + STEP)}>Show ${Math.min(STEP, first)} more<//></p>`}
    ${messages.slice(first).map((message, i) => html`<${Message} key=${first + i} message=${message} />`)}
    ${messageCount > messages.length && html`<p class="muted small">${count(messages.length)} of ${count(messageCount)} messages.</p>`}
  <//>`;
}

/** @param {{ tools: PromptOfTurn["tools"] }} props */
function Offered({ tools }) {
  return tools.map(
    ({ name, description, inputSchema }) => html`<${Fold} key=${name} title=${html`<code>${name}</code>`} facts=${[]}
      draw=${() => html`<${LongText} text=${description} label=${`Description of ${name}`} /><${LongText} text=${textOf(inputSchema)} label=${`Arguments of ${name}`} />`} />`,
  );
}

/** @param {{ message: PromptMessage }} props */
function Message({ message }) {
  const { role, facts } = messageTitle(message);
  const { text, reasoning, calls = [], isError } = message;
  return html`<${Fold} title=${html`<strong>${role}</strong> <span class="muted">${text.slice(0, 120)}</span>`} facts=${facts} isBad=${isError}
    draw=${() => html`
      ${reasoning && html`<p class="muted small">Reasoning</p><${LongText} text=${reasoning} label="Reasoning" />`}
      ${text !== "" && html`<${LongText} text=${text} label=${`Message of ${role}`} />`}
      ${calls.map((call, i) => html`<p key=${`n${i}`} class="muted small">Call of <code>${call.name}</code></p><${LongText} key=${i} text=${textOf(call.arguments)} label=${`Arguments of ${call.name}`} />`)}`} />`;
}
