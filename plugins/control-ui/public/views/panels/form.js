import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { firstValues, paramsOf } from "../../core/panel-facts.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/panels.js";
import { Button } from "../../ui/button.js";
import { OutcomeOf } from "./outcome.js";

/** @typedef {import("../../core/panel-facts.js").Field} Field */
/** @typedef {(method: string, params: Record<string, unknown>) => Promise<unknown>} CallMethod */

/**
 * Calls one method at a time and keeps what came of it.
 * @param {CallMethod} call
 */
export function useCall(call) {
  const [outcome, setOutcome] = useState(/** @type {import("./outcome.js").Outcome} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  /** @param {string} method @param {Record<string, unknown>} params */
  const run = async (method, params) => {
    if (isBusy) return;
    setBusy(true);
    setOutcome(undefined);
    setOutcome(
      await call(method, params).then(
        (result) => ({ result }),
        (error) => ({ error }),
      ),
    );
    setBusy(false);
  };
  return { outcome, isBusy, run, setOutcome };
}

/** A form of a plugin: what is typed stays until the plugin asks for something else. @param {{ block: import("../../core/panel-facts.js").FormBlock, call: CallMethod }} props */
export function PanelForm({ block: { fields, method, submit }, call }) {
  const [typed, setTyped] = useState(/** @type {Record<string, string | boolean>} */ ({}));
  const { outcome, isBusy, run, setOutcome } = useCall(call);
  const values = { ...firstValues(fields), ...typed };
  /** @param {Event} event */
  const send = (event) => {
    event.preventDefault();
    if (!isOnline.value) return;
    const read = paramsOf(fields, values);
    if ("wrong" in read) return setOutcome({ error: new Error(texts.notANumber(read.wrong.label)) });
    void run(method, read.params);
  };
  return html`<form class="panel-form stack" onSubmit=${send}>
    ${fields.map(
      (field) => html`<${FieldOf} key=${field.name} field=${field} value=${values[field.name]}
        onValue=${(/** @type {string | boolean} */ value) => setTyped({ ...typed, [field.name]: value })} />`,
    )}
    <div class="line"><${Button} type="submit" kind="primary" blocked=${isOnline.value ? undefined : texts.offline}>${isBusy ? texts.working : submit}<//></div>
    <${OutcomeOf} outcome=${outcome} />
  </form>`;
}

/** @param {{ field: Field, value: string | boolean | undefined, onValue: (value: string | boolean) => void }} props */
function FieldOf({ field: { label, type, options = [] }, value, onValue }) {
  /** @param {any} event */
  const typed = ({ currentTarget }) => onValue(type === "boolean" ? currentTarget.checked : currentTarget.value);
  if (type === "boolean")
    return html`<label class="panel-check"><input type="checkbox" checked=${value === true} onChange=${typed} /><span class="wrap">${label}</span></label>`;
  if (type === "select")
    return html`<label><span class="label wrap">${label}</span><select class="field" value=${value} onChange=${typed}>
      ${value === "" && !options.includes("") && html`<option value="">${texts.choose}</option>`}
      ${options.map((option) => html`<option key=${option} value=${option}>${option}</option>`)}</select></label>`;
  return html`<label><span class="label wrap">${label}</span><input class="field" autocomplete="off" maxlength="4000" value=${value}
    inputmode=${type === "number" ? "decimal" : undefined} onInput=${typed} /></label>`;
}
