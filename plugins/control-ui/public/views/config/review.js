import { useEffect, useState } from "preact/hooks";
import { base, issues, mine, schema } from "../../core/config.js";
import { changesOf } from "../../core/config-diff.js";
import { valueWords } from "../../core/config-facts.js";
import { formatPath } from "../../core/config-paths.js";
import { reloadKinds, save } from "../../core/config-save.js";
import { secretPlace } from "../../core/config-secrets.js";
import { outcomeOf } from "../../core/config-write.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { formatRoute, go } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config-more.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";

const MOST_SHOWN = 200;

/** The difference that a save would make, and the save. @param {{ onClose: () => void }} props */
export function Review({ onClose }) {
  const [kinds, setKinds] = useState(/** @type {Map<string, string>} */ (new Map()));
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [isAnew, setAnew] = useState(false);
  const list = changesOf(
    base.value?.parsed ?? {},
    mine.value,
    /** @type {import("../../core/config-types.js").Model} */ (schema.answer.value),
  );
  useEffect(() => {
    let isWanted = true;
    void reloadKinds(list).then((found) => isWanted && setKinds(found));
    return () => {
      isWanted = false;
    };
  }, [base.value?.hash]);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isBusy || noAdminReason.value) return;
    setBusy(true);
    setError("");
    try {
      const written = await save();
      if (written !== "conflict") {
        announce(outcomeOf(written));
        return onClose();
      }
      setAnew(true);
    } catch (failure) {
      const [first] = issues.value;
      if (first) {
        // The refusal stands at its field.
        onClose();
        return go(formatRoute("config", first.path));
      }
      setError(/** @type {Error} */ (failure).message);
    }
    setBusy(false);
  };
  const restarts = list.filter(({ path }) => kinds.get(formatPath(path)) === "restart").length;
  return html`<${Dialog} label=${texts.reviewChanges} onClose=${onClose}>
    <form class="config-review" onSubmit=${submit}>
      <h2>${list.length === 0 ? texts.nothingLeftSave : plural(list.length, texts.changes)}</h2>
      ${isAnew && html`<p class="notice warn" role="alert">${texts.notSavedSomebodyElse}</p>`}
      <ul class="changes">${list.slice(0, MOST_SHOWN).map(
        ({ path, before, after, isSecret }) => html`<li key=${formatPath(path)}>
          <p class="mono wrap">${formatPath(path)}</p>
          <p class="wrap"><del>${isSecret ? secretWords(before, false) : valueWords(before)}</del> → <ins>${isSecret ? secretWords(after, true) : valueWords(after)}</ins></p>
        </li>`,
      )}</ul>
      ${list.length > MOST_SHOWN && html`<p class="muted small">${texts.andMore(plural(list.length - MOST_SHOWN, texts.moreChanges))}</p>`}
      ${restarts > 0 && html`<p class="notice warn">${restartWords(restarts)}</p>`}
      ${error && html`<p class="notice bad" role="alert">${texts.notSavedOf(error)}</p>`}
      <div class="actions">
        <${Button} onClick=${onClose} autofocus=${true}>${texts.cancel}<//>
        <${Button} type="submit" kind="primary" blocked=${noAdminReason.value ?? (list.length === 0 ? texts.nothingChanged : undefined)}>${isBusy ? texts.saving : texts.save}<//>
      </div>
    </form>
  <//>`;
}

/** @param {number} restarts */
function restartWords(restarts) {
  const mode = base.value?.config?.gateway?.reload?.mode;
  const subject = plural(restarts, texts.changesNeedRestart);
  return mode === "hot" || mode === "off" ? texts.oldValueStays(subject) : texts.gatewayRestartsItself(subject);
}

/** @param {unknown} value @param {boolean} isNew */
function secretWords(value, isNew) {
  const place = secretPlace(value);
  if (place) return texts.fromPlace(place);
  return value === undefined ? texts.notSet : isNew ? texts.newValue : texts.set;
}
