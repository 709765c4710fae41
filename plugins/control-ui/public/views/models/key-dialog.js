import { useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { replaceKey } from "../../core/provider-changes.js";
import { texts } from "../../texts/models.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { KeyField } from "./fields.js";

/** @param {{ id: string, title: string, onClose: () => void, onDone: () => void }} props */
export default function KeyDialog({ id, title, onClose, onDone }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    const key = field.current?.value.trim() ?? "";
    if (key === "" || /\s/.test(key)) return setProblem(key === "" ? texts.keyMissing : texts.keyNoSpaces);
    setBusy(true);
    try {
      await replaceKey(id, key);
      if (field.current) field.current.value = "";
      onClose();
      onDone();
    } catch (failure) {
      setProblem(/** @type {Error} */ (failure).message);
      setBusy(false);
    }
  };
  return html`<${Dialog} label=${title} onClose=${onClose}><form onSubmit=${submit} autocomplete="off">
    <h2>${title}</h2>
    <${KeyField} inputRef=${field} isSet=${false} problem=${problem} isFirst=${true} />
    <div class="actions"><${Button} onClick=${onClose}>${texts.cancel}<//><${Button} type="submit" kind="primary">${isBusy ? texts.saving : texts.saveTest}<//></div>
  </form><//>`;
}
