import { html } from "../../core/html.js";
import { isFile, servers, vendors } from "../../core/provider-draft.js";
import { texts } from "../../texts/models.js";

/** @typedef {import("../../core/provider-draft.js").Draft} Draft */
/** @typedef {import("../../core/provider-draft.js").Problems} Problems */
/** @typedef {{ draft: Draft, problems: Problems, onChange: (change: Partial<Draft>) => void }} Part */

const kinds = /** @type {const} */ ([
  ["key", texts.vendorKey],
  ["address", texts.addressYourOwn],
  ["local", texts.machine],
]);

/** Fields of a provider, as its kind wants them. @param {Part & { keyRef: { current: HTMLInputElement | null }, isKeySet: boolean }} props */
export function Fields({ keyRef, isKeySet, ...part }) {
  const { draft, onChange } = part;
  const { kind, isDefault } = draft;
  return html`<div class="choice" role="group" aria-label=${texts.kind}>${kinds.map(
    ([id, word]) =>
      html`<button key=${id} type="button" aria-pressed=${id === kind} onClick=${() => onChange({ kind: id })}>${word}</button>`,
  )}</div>
  ${kind === "key" && html`<${Select} ...${part} name="vendor" label=${texts.vendor} of=${vendors} />`}
  ${kind === "address" && html`<${Text} ...${part} name="id" label=${texts.nameHere} hint=${texts.lab} /><${Text} ...${part} name="address" label=${texts.address} hint=${texts.httpV} type="url" />`}
  ${kind === "local" && html`<${Local} ...${part} />`}
  ${kind !== "local" && html`<${KeyField} inputRef=${keyRef} isSet=${isKeySet} isOptional=${kind === "address"} problem=${part.problems.key} />`}
  <${Text} ...${part} name="model" label=${texts.model} hint=${modelHint(draft)} />
  <label class="check"><input type="checkbox" checked=${isDefault} onChange=${(/** @type {any} */ e) => onChange({ isDefault: e.currentTarget.checked })} />
    <span>${texts.onceAnsweredAnswers}</span></label>`;
}

/** @param {Draft} draft */
function modelHint(draft) {
  if (isFile(draft)) return texts.fileCalled;
  return draft.kind === "key" ? texts.vendorSUsual : texts.firstLists;
}

/** @param {Part} part */
function Local(part) {
  const { draft } = part;
  const port = servers.find(([id]) => id === draft.server)?.[2];
  return html`<${Select} ...${part} name="server" label=${texts.runsThere} of=${servers} />
    ${
      isFile(draft)
        ? html`<${Text} ...${part} name="file" label=${texts.file} hint=${texts.modelsNameGguf} />
          <p class="muted small">${texts.gatewaySMachine} <code>hf:owner/repo/file.gguf</code>${texts.whichDownloadedFirst} <code>svc models runtime install</code>.</p>`
        : html`<${Text} ...${part} name="address" label=${texts.address} hint=${texts.usualOnePort(port)} type="url" />`
    }`;
}

/**
 * Field of a key. It is read when it is sent; no state, storage or attribute holds what is typed.
 * @param {{ inputRef: { current: HTMLInputElement | null }, isSet: boolean, isOptional?: boolean, problem?: string | undefined, isFirst?: boolean }} props
 */
export function KeyField({ inputRef, isSet, isOptional = false, problem, isFirst = false }) {
  const hint = isSet ? texts.setEmptyKeeps : isOptional ? texts.ifWantsOne : "";
  return html`<div>
    <label><span class="label">${texts.key}</span><input ref=${inputRef} class="field mono" type="password" autocomplete="new-password" spellcheck="false" maxlength="4096"
      autofocus=${isFirst} placeholder=${hint} aria-invalid=${problem ? "true" : undefined} /></label>
    ${problem && html`<p class="reason bad small" role="alert">${problem}</p>`}
    <p class="muted small">${texts.goesIntoGateway}</p>
  </div>`;
}

/** @param {Part & { name: keyof Draft, label: string, hint?: string, type?: string }} props */
function Text({ draft, problems, onChange, name, label, hint, type = "text" }) {
  const problem = problems[name];
  return html`<div>
    <label><span class="label">${label}</span><input class="field" type=${type} autocomplete="off" spellcheck="false" maxlength="1024" placeholder=${hint}
      aria-invalid=${problem ? "true" : undefined} value=${draft[name]} onInput=${(/** @type {any} */ e) => onChange({ [name]: e.currentTarget.value })} /></label>
    ${problem && html`<p class="reason bad small" role="alert">${problem}</p>`}
  </div>`;
}

/** @param {Part & { name: keyof Draft, label: string, of: ReadonlyArray<readonly [string, string, number?]> }} props */
function Select({ draft, problems, onChange, name, label, of }) {
  const problem = problems[name];
  return html`<div>
    <label><span class="label">${label}</span><select class="field" aria-invalid=${problem ? "true" : undefined} value=${draft[name]}
      onChange=${(/** @type {any} */ e) => onChange({ [name]: e.currentTarget.value })}>${of.map(
        ([id, word]) => html`<option key=${id} value=${id} selected=${id === draft[name]}>${word}</option>`,
      )}</select></label>
    ${problem && html`<p class="reason bad small" role="alert">${problem}</p>`}
  </div>`;
}
