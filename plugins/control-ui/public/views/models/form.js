import { useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { adviceFor, testWords } from "../../core/model-facts.js";
import { addAndTest, forgetDraft, keepDraft, keptDraft, removeProvider } from "../../core/provider-changes.js";
import { freshDraft, problemsOf, providerId } from "../../core/provider-draft.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/models.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Notice } from "../../ui/states.js";
import { Fields } from "./fields.js";

/** @typedef {import("../../core/provider-draft.js").Draft} Draft */
/** @typedef {import("../../core/provider-draft.js").Problems} Problems */
/** @typedef {import("../../core/model-facts.js").TestResult} TestResult */
/** @typedef {{ ref: string, result: TestResult, isDefault: boolean }} Added */

/**
 * Form of another provider: it is written into the config, one of its models is asked for a word, and on wish that model answers from then on. What is
 * typed is kept in the tab, but for the key: it is sent once and leaves the field.
 * @param {{ taken: readonly string[], isFirst: boolean, onDone: (added: Added) => void, onClose: () => void }} props `isFirst`: no language model answers yet
 */
export function AddForm({ taken, isFirst, onDone, onClose }) {
  const fresh = freshDraft(isFirst);
  const [draft, setDraft] = useState(() => keptDraft(fresh) ?? fresh);
  const [problems, setProblems] = useState(/** @type {Problems} */ ({}));
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  const [failed, setFailed] = useState(/** @type {TestResult | undefined} */ (undefined));
  const [written, setWritten] = useState(/** @type {string | undefined} */ (undefined));
  // A model file joins others that were there before: what this form has not made it does not remove.
  const [before] = useState(taken);
  const made = written !== undefined && !before.includes(written) ? written : undefined;
  const key = useRef(/** @type {HTMLInputElement | null} */ (null));
  const blocked = noAdminReason.value;

  /** @param {Partial<Draft>} change */
  const change = (change) => {
    const next = { ...draft, ...change };
    setDraft(next);
    setProblems({});
    keepDraft(next);
  };
  /** @param {() => Promise<unknown>} work */
  const attempt = async (work) => {
    setError("");
    setFailed(undefined);
    try {
      await work();
    } catch (failure) {
      setError(/** @type {Error} */ (failure).message);
    }
    setBusy("");
  };
  /** @param {string} secret */
  const add = async (secret) => {
    setBusy(texts.saving);
    const onSaved = (/** @type {string} */ id) => {
      if (key.current) key.current.value = "";
      setWritten(id);
      setBusy(texts.testing);
    };
    const { ref, result } = await addAndTest(draft, secret, { made, onSaved });
    if (!result.ok) return setFailed(result);
    forgetDraft();
    onDone({ ref, result, isDefault: draft.isDefault });
  };
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    const secret = key.current?.value.trim() ?? "";
    const wrong = problemsOf(draft, { key: secret, taken, written });
    setProblems(wrong);
    if (!busy && !blocked && Object.keys(wrong).length === 0) void attempt(() => add(secret));
  };
  const undo = () =>
    attempt(async () => {
      setBusy(texts.removing);
      if (made !== undefined) await removeProvider(made);
      setWritten(undefined);
      announce(texts.removedAgain);
    });

  return html`<form class="job-form" onSubmit=${submit} novalidate autocomplete="off">
    <${Fields} draft=${draft} problems=${problems} onChange=${change} keyRef=${key} isKeySet=${written === providerId(draft)} />
    ${failed && html`<${Failed} result=${failed} />`}
    ${error && html`<p class="notice bad" role="alert">${error}</p>`}
    <p class="sr-only" role="status">${busy}</p>
    <div class="actions">
      ${made !== undefined && !busy && html`<${Button} kind="danger" onClick=${undo}>${texts.removeAgain}<//>`}
      <${Button} onClick=${onClose}>${written === undefined ? texts.cancel : texts.leave}<//>
      <${Button} type="submit" kind="primary" blocked=${blocked}>${busy || (written === undefined ? texts.addTest : texts.testAgain)}<//>
    </div>
  </form>`;
}

/** @param {{ result: TestResult }} props */
function Failed({ result }) {
  const advice = result.ok ? undefined : adviceFor(result.fault);
  return html`<${Notice} level="bad"><p role="alert">${testWords(result)}</p>${advice && html`<p>${advice}</p>`}<//>`;
}
