import { useState } from "preact/hooks";
import { base, foreign, issues, rawDraft } from "../../core/config.js";
import { takeForeign } from "../../core/config-draft.js";
import { reread } from "../../core/config-save.js";
import { applyConfig, isConflict, issuesOf, outcomeOf, readConfig } from "../../core/config-write.js";
import { html } from "../../core/html.js";
import { diffLines } from "../../core/line-diff.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config-more.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask, Dialog } from "../../ui/dialog.js";
import { Notice } from "../../ui/states.js";

const MOST_CHARS = 1_048_576;

/** Text of the file. Secrets are placeholders in it, which the gateway turns back into what is stored. */
export default function Raw() {
  const [isReviewed, setReviewed] = useState(false);
  const known = base.value;
  if (!known) return null;
  const text = rawDraft.value ?? known.raw;
  const isChanged = text !== known.raw;
  const change = (/** @type {any} */ e) => {
    const next = e.currentTarget.value;
    rawDraft.value = next === base.value?.raw ? undefined : next;
  };
  const discard = () =>
    ask({
      title: texts.discardYouTyped,
      text: texts.textFileShown,
      action: texts.discard,
      isDanger: true,
      run: () => {
        rawDraft.value = undefined;
        takeForeign();
      },
    });
  const blocked = noAdminReason.value ?? (isChanged ? undefined : texts.nothingChanged);
  return html`<section class="panel" aria-labelledby="raw">
    <header><h2 id="raw">${texts.theFile}</h2><span class="actions">
      ${isChanged && html`<${Button} onClick=${discard}>${texts.discard}<//>`}
      <${Button} kind="primary" blocked=${blocked} onClick=${() => setReviewed(true)}>${texts.reviewChanges}<//></span></header>
    <div class="inside stack">
      <p class="muted small">${texts.jsonSecretShown}</p>
      ${issues.value.length > 0 && html`<${Notice} level="bad"><ul role="alert">${issues.value.map(({ path, message }) => html`<li key=${path + message} class="wrap">${path ? `${path}: ` : ""}${message}</li>`)}</ul><//>`}
      <textarea dir="auto" class="field mono source" aria-label=${texts.textConfigFile} spellcheck="false" maxlength=${MOST_CHARS} readonly=${noAdminReason.value !== undefined} value=${text} onInput=${change}></textarea>
    </div>
    ${isReviewed && html`<${Review} onClose=${() => setReviewed(false)} />`}
  </section>`;
}

/** @param {{ onClose: () => void }} props */
function Review({ onClose }) {
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [isAnew, setAnew] = useState(false);
  const known = base.value;
  const draft = rawDraft.value;
  const lines = diffLines(known?.raw ?? "", draft ?? known?.raw ?? "");
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isBusy || draft === undefined || !known || noAdminReason.value) return;
    setBusy(true);
    setError("");
    try {
      const written = await applyConfig(draft, known.hash);
      rawDraft.value = undefined;
      await reread();
      issues.value = written.issues ?? [];
      announce(outcomeOf(written));
      return onClose();
    } catch (failure) {
      if (isConflict(failure)) {
        foreign.value = await readConfig().catch(() => undefined);
        takeForeign();
        setAnew(true);
      } else {
        issues.value = issuesOf(failure);
        setError(/** @type {Error} */ (failure).message);
      }
    }
    setBusy(false);
  };
  return html`<${Dialog} label=${texts.reviewChanges} onClose=${onClose}>
    <form class="config-review" onSubmit=${submit}>
      <h2>${texts.changesFile}</h2>
      ${isAnew && html`<p class="notice warn" role="alert">${texts.notSavedSomebody}</p>`}
      <pre class="diff" tabindex="0" role="region" aria-label=${texts.difference}>${lines.map(
        ({ sign, text }, i) =>
          html`<span key=${i} class=${sign === "+" ? "in" : sign === "-" ? "out" : "muted"}>${`${sign} ${text}\n`}</span>`,
      )}</pre>
      ${error && html`<p class="notice bad" role="alert">${texts.notSavedOf(error)}</p>`}
      <div class="actions">
        <${Button} onClick=${onClose} autofocus=${true}>${texts.cancel}<//>
        <${Button} type="submit" kind="primary">${isBusy ? texts.saving : texts.saveApply}<//>
      </div>
    </form>
  <//>`;
}
