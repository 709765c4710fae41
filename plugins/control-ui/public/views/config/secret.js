import { useEffect, useRef, useState } from "preact/hooks";
import { base, dropEdit, edits, setEdit } from "../../core/config.js";
import { formatPath, valueAt } from "../../core/config-paths.js";
import { secretPlace } from "../../core/config-secrets.js";
import { html } from "../../core/html.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config-more.js";
import { Button } from "../../ui/button.js";

/** @typedef {import("../../core/config-types.js").Control} Control */

/** A secret is written and never read: what was sent is not shown again. @param {Control} props */
export default function Secret({ id, node, label, value, text, isBlocked, described, invalid }) {
  const { path } = node;
  const edit = edits.value.get(formatPath(path));
  const [isOpen, setOpen] = useState(edit?.text !== undefined || typeof edit?.value === "string");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    if (isOpen && edit === undefined) field.current?.focus();
  }, [isOpen]);
  // A value that was sent is no longer typed.
  useEffect(() => {
    if (edit === undefined) setOpen(false);
  }, [base.value?.hash]);
  const place = secretPlace(value);
  const isSet = valueAt(base.value?.parsed, path) !== undefined;
  const isElsewhere = !isSet && valueAt(base.value?.config, path) !== undefined;
  const state = place ? texts.setFrom(place) : isSet ? texts.isSet : isElsewhere ? texts.setOutside : texts.notSetYet;
  const isTyping = isOpen && (edit === undefined || "text" in edit || typeof edit.value === "string");
  /** @param {string} next */
  const change = (next) => {
    if (next !== "") setEdit({ path, value: next });
    else if (isSet) dropEdit(path);
    else setEdit({ path, text: "", problem: texts.writeValue });
  };
  if (!isTyping) {
    return html`<div class="line-row"><span class="grow">${edit ? texts.willTakenOut : state}</span>
      <${Button} id=${id} kind="slim" label=${`${isSet ? texts.replace : texts.setLabel}: ${label}`} aria-describedby=${described} blocked=${noAdminReason.value}
        onClick=${() => (edit && dropEdit(path), setOpen(true))}>${isSet ? texts.replace : texts.setLabel}<//></div>`;
  }
  const typed = typeof edit?.value === "string" ? edit.value : (text ?? "");
  return html`<div class="line-row"><input ref=${field} id=${id} class="field" type="password" autocomplete="new-password" spellcheck="false" readonly=${isBlocked}
      aria-describedby=${described} aria-invalid=${invalid} placeholder=${isSet ? texts.newValueLabel : texts.value} value=${typed}
      onInput=${(/** @type {any} */ e) => change(e.currentTarget.value)} />
    <${Button} kind="slim" label=${texts.cancelOf(label)} onClick=${() => (dropEdit(path), setOpen(false))}>${texts.cancel}<//></div>`;
}
