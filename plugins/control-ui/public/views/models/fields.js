import { html } from "../../core/html.js";
import { isFile, servers, vendors } from "../../core/provider-draft.js";

/** @typedef {import("../../core/provider-draft.js").Draft} Draft */
/** @typedef {import("../../core/provider-draft.js").Problems} Problems */
/** @typedef {{ draft: Draft, problems: Problems, onChange: (change: Partial<Draft>) => void }} Part */

const kinds = /** @type {const} */ ([
  ["key", "A vendor, with a key"],
  ["address", "An address of your own"],
  ["local", "On this machine"],
]);

/** Fields of a provider, as its kind wants them. @param {Part & { keyRef: { current: HTMLInputElement | null }, isKeySet: boolean }} props */
export function Fields({ keyRef, isKeySet, ...part }) {
  const { draft, onChange } = part;
  const { kind, isDefault } = draft;
  return html`<div class="choice" role="group" aria-label="Kind">${kinds.map(
    ([id, word]) =>
      html`<button key=${id} type="button" aria-pressed=${id === kind} onClick=${() => onChange({ kind: id })}>${word}</button>`,
  )}</div>
  ${kind === "key" && html`<${Select} ...${part} name="vendor" label="Vendor" of=${vendors} />`}
  ${kind === "address" && html`<${Text} ...${part} name="id" label="Name here" hint="lab" /><${Text} ...${part} name="address" label="Address" hint="http://…/v1" type="url" />`}
  ${kind === "local" && html`<${Local} ...${part} />`}
  ${kind !== "local" && html`<${KeyField} inputRef=${keyRef} isSet=${isKeySet} isOptional=${kind === "address"} problem=${part.problems.key} />`}
  <${Text} ...${part} name="model" label="Model" hint=${modelHint(draft)} />
  <label class="check"><input type="checkbox" checked=${isDefault} onChange=${(/** @type {any} */ e) => onChange({ isDefault: e.currentTarget.checked })} />
    <span>Once it has answered, it answers by default</span></label>`;
}

/** @param {Draft} draft */
function modelHint(draft) {
  if (isFile(draft)) return "as the file is called";
  return draft.kind === "key" ? "the vendor's usual one" : "the first that it lists";
}

/** @param {Part} part */
function Local(part) {
  const { draft } = part;
  const port = servers.find(([id]) => id === draft.server)?.[2];
  return html`<${Select} ...${part} name="server" label="What runs there" of=${servers} />
    ${
      isFile(draft)
        ? html`<${Text} ...${part} name="file" label="File" hint="~/models/name.gguf" />
          <p class="muted small">On the gateway's machine, or <code>hf:owner/repo/file.gguf</code>, which is downloaded first. The runtime is installed once,
          by the command <code>svc models runtime install</code>.</p>`
        : html`<${Text} ...${part} name="address" label="Address" hint=${`the usual one, port ${port}`} type="url" />`
    }`;
}

/**
 * Field of a key. It is read when it is sent; no state, storage or attribute holds what is typed.
 * @param {{ inputRef: { current: HTMLInputElement | null }, isSet: boolean, isOptional?: boolean, problem?: string | undefined, isFirst?: boolean }} props
 */
export function KeyField({ inputRef, isSet, isOptional = false, problem, isFirst = false }) {
  const hint = isSet ? "set; empty keeps it" : isOptional ? "if it wants one" : "";
  return html`<div>
    <label><span class="label">Key</span><input ref=${inputRef} class="field mono" type="password" autocomplete="new-password" spellcheck="false" maxlength="4096"
      autofocus=${isFirst} placeholder=${hint} aria-invalid=${problem ? "true" : undefined} /></label>
    ${problem && html`<p class="reason bad small" role="alert">${problem}</p>`}
    <p class="muted small">It goes into the gateway's config and is never shown again.</p>
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
