import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { attach, takeAttached } from "../../core/attached.js";
import { chooseModel, modelsOf, readAgents, readModels } from "../../core/chat-models.js";
import { readDraft, writeDraft } from "../../core/drafts.js";
import { newId } from "../../core/env.js";
import { count, list } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress, go } from "../../core/router.js";
import { sessionRow } from "../../core/sessions.js";
import { readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { Check } from "../../ui/icons.js";
import { Failure, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/chat-models.js").Model} Model */
/** @typedef {import("../../core/chat-models.js").Agent} Agent */

/** A list of more has a field to find one. */
const FEW = 12;
/** Models drawn at a time. */
const MOST = 100;

const open = signal(/** @type {{ sessionKey: string, agentId: string } | undefined} */ (undefined));
const close = () => (open.value = undefined);
const host = document.createElement("div");
document.body.append(host);
render(html`<${Host} />`, host);

/** Asks who is to answer in a conversation. @param {string} sessionKey @param {string} agentId */
export function openPicker(sessionKey, agentId) {
  open.value = { sessionKey, agentId };
}

function Host() {
  const about = open.value;
  return about ? html`<${Picker} key=${about.sessionKey} ...${about} />` : null;
}

/** @param {{ sessionKey: string, agentId: string }} props */
function Picker({ sessionKey, agentId }) {
  const [agents, setAgents] = useState(/** @type {Agent[]} */ ([]));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const read = () => {
    setError(undefined);
    readModels(agentId).catch(setError);
    readAgents().then(
      ({ agents: found }) => setAgents(found),
      () => undefined,
    );
  };
  useEffect(read, []);
  const models = modelsOf(agentId);
  /** @param {string | null} model */
  const choose = async (model) => {
    if (readOnlyReason.value) return;
    try {
      await chooseModel(sessionKey, model);
      announce(model === null ? texts.agentSOwnModel : texts.answersHere(model));
      close();
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<${Dialog} label=${texts.whoAnswersHere} onClose=${close}><div class="picker">
    <h2>${texts.whoAnswersHere}</h2>
    ${error ? html`<${Failure} what=${texts.didNotWork} error=${error} onRetry=${read} />` : null}
    ${!models && !error && html`<${Waiting} rows=${4} />`}
    ${models && html`<${Models} models=${models} chosen=${sessionRow(sessionKey)?.model} onChoose=${choose} />`}
    ${agents.length > 1 && html`<${Agents} agents=${agents} current=${agentId} sessionKey=${sessionKey} />`}
    <div class="actions"><${Button} onClick=${close}>${texts.close}<//></div>
  </div><//>`;
}

/** @param {{ models: Model[], chosen: string | undefined, onChoose: (model: string | null) => void }} props */
function Models({ models, chosen, onChoose }) {
  const [words, setWords] = useState("");
  const own = models.find(({ tags }) => tags?.includes("default"));
  const shown = models.filter(({ provider, id, name }) => `${provider}/${id} ${name}`.toLowerCase().includes(words.trim().toLowerCase()));
  return html`<section aria-labelledby="pick-model"><h3 id="pick-model" class="label">${texts.modelConversation}</h3>
    ${models.length > FEW && html`<input class="field" type="search" aria-label=${texts.findModel} placeholder=${texts.findModel} value=${words} onInput=${(/** @type {any} */ e) => setWords(e.currentTarget.value)} />`}
    <ul class="options">
      <${Option} word=${texts.agentSOwn} note=${own ? `${own.provider}/${own.id}` : texts.firstOneReady} isChosen=${chosen === undefined} onChoose=${() => onChoose(null)} />
      ${shown.slice(0, MOST).map((model) => {
        const ref = `${model.provider}/${model.id}`;
        return html`<${Option} key=${ref} word=${model.name} note=${[ref, ...factsOf(model)].join(" · ")} reason=${model.available === false ? reasons[model.unavailableReason ?? ""] : undefined}
          isChosen=${chosen === ref} onChoose=${() => onChoose(ref)} />`;
      })}
    </ul>${shown.length > MOST && html`<p class="muted small">${texts.someOfModels({ most: MOST, shown: shown.length })}</p>`}</section>`;
}

const reasons = /** @type {Record<string, string>} */ ({
  "missing-auth": texts.noKeyYet,
  "auth-failed": texts.keyRefused,
  cooldown: texts.restsAfterFailures,
});

/** @param {Model} model */
function factsOf({ contextWindow, input = [] }) {
  const reads = input
    .filter((kind) => kind !== "text")
    .map((kind) => (kind === "image" ? texts.pictures : kind === "pdf" ? texts.pdf : kind));
  return [contextWindow && texts.readsTokens(count(contextWindow)), reads.length > 0 && list(reads)].filter(
    (fact) => typeof fact === "string",
  );
}

/** @param {{ word: string, note: string, reason?: string | undefined, isChosen: boolean, onChoose: () => void }} props */
function Option({ word, note, reason, isChosen, onChoose }) {
  return html`<li><button type="button" class="option" aria-pressed=${isChosen} aria-disabled=${readOnlyReason.value ? "true" : undefined}
    title=${readOnlyReason.value} onClick=${onChoose}>
    <span class="option-mark">${isChosen && html`<${Check} />`}</span>
    <span class="option-words"><bdi>${word}</bdi><span class="muted small"><bdi>${note}</bdi></span>${reason && html`<span class="small bad-text">${reason}</span>`}</span>
  </button></li>`;
}

/** Agents to choose among. A conversation stays with its own: another one begins another conversation, with what was typed. @param {{ agents: Agent[], current: string, sessionKey: string }} props */
function Agents({ agents, current, sessionKey }) {
  /** @param {string} id */
  const begin = (id) => {
    const key = `agent:${id}:chat-${newId().slice(0, 10)}`;
    writeDraft(key, readDraft(sessionKey));
    writeDraft(sessionKey, "");
    attach(key, takeAttached(sessionKey));
    close();
    go(chatAddress(key));
  };
  return html`<section aria-labelledby="pick-agent"><h3 id="pick-agent" class="label">${texts.agent}</h3>
    <ul class="options">${agents.map(
      ({
        id,
        name,
        identity,
      }) => html`<${Option} key=${id} word=${identity?.name ?? name ?? id} note=${id === current ? texts.conversation(id) : texts.beginsAnotherConversation}
        isChosen=${id === current} onChoose=${() => (id === current ? undefined : begin(id))} />`,
    )}</ul></section>`;
}
