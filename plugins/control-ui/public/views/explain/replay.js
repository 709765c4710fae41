import { useEffect, useRef, useState } from "preact/hooks";
import { modelsOf, readModels } from "../../core/chat-models.js";
import { replay } from "../../core/explain.js";
import { comparison, stoppedWords } from "../../core/explain-facts.js";
import { html } from "../../core/html.js";
import { readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/explain.js";
import { Button } from "../../ui/button.js";
import { LongText } from "../../ui/long-text.js";
import { Failure, Notice } from "../../ui/states.js";
import { Section } from "./parts.js";

/** @typedef {import("../../core/explain-facts.js").Replayed} Replayed */

/** Asks another model the same, and puts both answers side by side. @param {{ run: import("../../core/explain-facts.js").Explained }} props */
export function Replay({ run }) {
  const models = modelsOf(run.agentId);
  const [model, setModel] = useState("");
  const [result, setResult] = useState(/** @type {Replayed | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const asking = useRef(/** @type {AbortController | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    // An agent that is gone has no list; the name of a model can be typed then.
    readModels(run.agentId).catch(() => undefined);
    return () => asking.current?.abort();
  }, []);
  const names = (models ?? []).map(({ provider, id }) => `${provider}/${id}`);
  const chosen = model || (names.find((name) => name !== run.model) ?? names[0] ?? "");
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy || chosen === "" || readOnlyReason.value) return;
    const own = new AbortController();
    asking.current = own;
    setBusy(true);
    setError(undefined);
    try {
      setResult(await replay(run.runId, chosen, own.signal));
    } catch (failure) {
      if (!own.signal.aborted) setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return html`<${Section} id="replay" title=${texts.askAnotherModel}>
    <p class="muted">${texts.getsSamePrompt}</p>
    <form class="replay-form" onSubmit=${submit}>
      <label><span class="label">${texts.model}</span>
        ${
          names.length > 0
            ? html`<select class="field" value=${chosen} onChange=${(/** @type {any} */ e) => setModel(e.currentTarget.value)}>${names.map(
                (name) =>
                  html`<option key=${name} value=${name} selected=${name === chosen}>${name}${name === run.model ? texts.answeredText : ""}</option>`,
              )}</select>`
            : html`<input class="field" value=${model} placeholder=${texts.providerModel} maxlength="256" onInput=${(/** @type {any} */ e) => setModel(e.currentTarget.value)} />`
        }</label>
      <${Button} type="submit" kind="primary" blocked=${readOnlyReason.value ?? (chosen === "" ? texts.nameModelFirst : undefined)}>${isBusy ? texts.asking : texts.replay}<//>
      ${isBusy && html`<${Button} onClick=${() => asking.current?.abort()}>${texts.stopWaiting}<//>`}
    </form>
    ${error ? html`<${Failure} what=${texts.replayDidNot} error=${error} />` : null}
    ${result && html`<${Compared} result=${result} />`}
  <//>`;
}

/** @param {{ result: Replayed }} props */
function Compared({ result }) {
  const { original, replay: again, isSame, isExact, notes } = result;
  const stopped = stoppedWords(again.stopped);
  return html`<div class="stack" role="group" aria-label=${texts.comparison}>
    <p role="status">${stopped ? texts.noAnswer(again.model) : isSame ? texts.bothAnswersSame : texts.answersDiffer}</p>
    ${stopped && html`<${Notice} level="warn"><p>${stopped}</p><//>`}
    <div class="side-by-side">
      <div class="stack"><h3 class="label">${original.model ?? texts.theRun}</h3><${LongText} text=${original.answer || texts.noText} label=${texts.answerRun} /></div>
      <div class="stack"><h3 class="label">${again.model}</h3><${LongText} text=${again.answer || texts.noText} label=${texts.answerReplay} /></div>
    </div>
    <div class="scrolls" tabindex="0" role="group" aria-label=${texts.differences}>
      <table class="figures compared"><thead><tr><th scope="col">${texts.figure}</th><th scope="col">${texts.run}</th><th scope="col">${texts.replay}</th><th scope="col">${texts.difference}</th></tr></thead>
        <tbody>${comparison(result).map(
          ({ word, before, after, difference }) =>
            html`<tr key=${word}><th scope="row">${word}</th><td>${before}</td><td>${after}</td><td>${difference}</td></tr>`,
        )}</tbody></table>
    </div>
    ${!isExact && html`<ul class="muted small">${notes.map((note, i) => html`<li key=${i} class="wrap">${note}</li>`)}</ul>`}
  </div>`;
}
