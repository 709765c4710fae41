import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { takenIn, testWords, unusableOf } from "../../core/model-facts.js";
import { needsModel } from "../../core/parts.js";
import { keptDraft } from "../../core/provider-changes.js";
import { freshDraft } from "../../core/provider-draft.js";
import { modelStatus, noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/models.js";
import { Button } from "../../ui/button.js";
import { Notice } from "../../ui/states.js";
import { AddForm } from "./form.js";

/** @typedef {import("./form.js").Added} Added */

/**
 * Offer of a first language model: it is added, tested and made the default without leaving the page. It goes when there is a model, but not while
 * somebody is at it. What is set up already is named, not asked for again.
 * @param {{ isOpen?: boolean, onClose?: () => void }} props `isOpen`: somebody has just asked for it
 */
export default function FirstRun({ isOpen: isOpenAtFirst = false, onClose = () => undefined }) {
  const [isOpen, setOpen] = useState(() => isOpenAtFirst || keptDraft(freshDraft(true)) !== undefined);
  const [added, setAdded] = useState(/** @type {Added | undefined} */ (undefined));
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const status = modelStatus.value;
  useEffect(() => {
    if (isOpenAtFirst) focusOn(place.current, "[aria-pressed=true]");
  }, []);
  const open = () => {
    setOpen(true);
    setTimeout(() => focusOn(place.current, "[aria-pressed=true]"));
  };
  const close = () => {
    setOpen(false);
    setAdded(undefined);
    document.getElementById("main")?.focus();
    onClose();
  };
  if (!status || (!isOpen && !needsModel(status))) return null;
  const title = added ? texts.answers(added.ref) : needsModel(status) ? texts.noLanguageModelYet : texts.addModel;
  return html`<section ref=${place} class="panel first-run" aria-labelledby="first-run">
    <header><h2 id="first-run">${title}</h2>
      ${!isOpen && html`<${Button} kind="primary slim" blocked=${noAdminReason.value} onClick=${open}>${texts.addModel}<//>`}</header>
    <div class="inside stack">
      ${added && html`<${Done} added=${added} onClose=${close} />`}
      ${!added && needsModel(status) && html`<p class="muted">${texts.untilOneAdded}</p>`}
      ${!added && html`<${AlreadyThere} status=${status} />`}
      ${!added && isOpen && html`<${AddForm} taken=${takenIn(status)} isFirst=${true} onDone=${setAdded} onClose=${close} />`}
    </div>
  </section>`;
}

/** @param {{ added: Added, onClose: () => void }} props */
function Done({ added: { result, isDefault }, onClose }) {
  const next = isDefault ? texts.askYourFirst : texts.doesNotAnswerDefault;
  return html`<p role="status" class="wrap">${testWords(result)}</p>
    <div class="actions line"><span>${next}</span><a class="button slim" href="#/models">${texts.models}</a><${Button} kind="slim" onClick=${onClose}>${texts.done}<//></div>`;
}

/** @param {{ status: import("../../core/model-facts.js").ModelStatus }} props */
function AlreadyThere({ status }) {
  const broken = unusableOf(status);
  if (broken.length === 0) return null;
  return html`<${Notice} level="warn"><p>${texts.setUpAlreadyBut}</p>
    <ul>${broken.map(({ id, why }) => html`<li key=${id}><strong>${id}</strong>: ${why}</li>`)}</ul>
    <div class="actions"><a class="button slim" href="#/models">${texts.fixModels}</a></div><//>`;
}

/** @param {HTMLElement | null} place @param {string} selector */
function focusOn(place, selector) {
  /** @type {HTMLElement | null | undefined} */ (place?.querySelector(selector))?.focus();
}
