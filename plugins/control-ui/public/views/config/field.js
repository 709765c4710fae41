import { useEffect, useId, useRef, useState } from "preact/hooks";
import { base, dropEdit, edits, issues, mine, schema, setEdit } from "../../core/config.js";
import { REDACTED } from "../../core/config-edits.js";
import { issuesAt, kindOf, labelOf, reloadWords, valueOfText, valueProblem, valueWords } from "../../core/config-facts.js";
import { formatPath, isSame, isWithin, parsePath, valueAt } from "../../core/config-paths.js";
import { html } from "../../core/html.js";
import { route } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config.js";
import { Button } from "../../ui/button.js";
import { withCode } from "../../ui/code.js";
import { Later } from "../../ui/later.js";

/** @import { AnyKind as Kind, Control, Model, Node } from "../../core/config-types.js" */

const loadJson = () => import("./json.js");

/** One setting: its value, what it is by default, whether it was changed, and the way back. @param {{ node: Node, onRemove?: () => void }} props */
export function Field({ node, onRemove }) {
  const { path, hint, reload } = node;
  const id = useId();
  const model = /** @type {Model} */ (schema.answer.value);
  const name = formatPath(path);
  const edit = edits.value.get(name);
  const stored = valueAt(base.value?.parsed, path);
  /** @type {Kind} */
  const kind = stored === REDACTED ? { kind: "secret" } : kindOf(node.schema, model, hint);
  const value = valueAt(mine.value, path);
  const shown = value ?? node.schema.default ?? valueAt(base.value?.config, path);
  const problems = [...(edit?.problem ? [edit.problem] : []), ...issuesAt(issues.value, path, parsePath)];
  const isMine = edit !== undefined || !isSame(value, stored);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const wanted = parsePath(route.value.rest);
  const isTarget = path.length > 0 && isWithin(wanted, path);
  const Control = controls[/** @type {keyof typeof controls} */ (kind.kind)];
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    if (!isTarget) return;
    document.getElementById(id)?.focus({ preventScroll: true });
    box.current?.scrollIntoView({ block: "center" });
  }, [isTarget, isReady]);
  const label = onRemove ? (path.at(-1) ?? "") : labelOf(node);
  /** @type {Control} */
  const control = {
    id,
    node,
    kind,
    label,
    value: shown,
    own: value,
    text: edit?.text,
    isBlocked: noAdminReason.value !== undefined,
    described: `${id}-about`,
    invalid: problems.length > 0 ? "true" : undefined,
  };
  const standard = node.schema.default === undefined ? "" : texts.default(valueWords(node.schema.default));
  return html`<div ref=${box} class=${`setting ${isMine ? "changed" : ""}`}>
    <div class="setting-head">
      <label for=${id} class="label">${label}</label>
      ${isMine ? html`<span class="badge info">${texts.changed}</span>` : value !== undefined && html`<span class="badge">${texts.set}</span>`}
      <span class="grow"></span>
      ${isMine && html`<${Button} kind="quiet slim" label=${texts.undoOf(label)} onClick=${() => dropEdit(path)}>${texts.undo}<//>`}
      ${
        value !== undefined &&
        !onRemove &&
        html`<${Button} kind="quiet slim" label=${texts.resetOf(label)} blocked=${noAdminReason.value} onClick=${() => setEdit({ path })}>${texts.reset}<//>`
      }
      ${onRemove && html`<${Button} kind="quiet slim" label=${texts.removeOf(label)} blocked=${noAdminReason.value} onClick=${onRemove}>${texts.remove}<//>`}
    </div>
    ${Control ? html`<${Control} ...${control} />` : html`<${Later} load=${rare[kind.kind] ?? loadJson} ...${control} onReady=${() => setReady(true)} />`}
    ${problems.map((problem) => html`<p key=${problem} class="reason bad small wrap" role="alert">${problem}</p>`)}
    <p id=${`${id}-about`} class="muted small wrap">${withCode(hint.help ? `${hint.help}. ` : "")}${standard}<span class="mono">${name}</span>, ${reloadWords(reload)}</p>
  </div>`;
}

/** An empty field is a key that is not set. @param {Control} control @param {string} text */
function put({ node: { path }, kind }, text) {
  if (text === "") return setEdit({ path });
  const value = valueOfText(kind, text);
  const problem = valueProblem(kind, value);
  setEdit(problem ? { path, text, problem } : { path, value });
}

/** @param {Control} props */
function Switch({ id, node, value, isBlocked, described, invalid }) {
  const change = (/** @type {any} */ e) => setEdit({ path: node.path, value: e.currentTarget.checked });
  return html`<span class="check"><input id=${id} type="checkbox" role="switch" checked=${value === true} disabled=${isBlocked} aria-describedby=${described}
    aria-invalid=${invalid} onChange=${change} /><span aria-hidden="true">${value === true ? texts.onLabel : texts.offLabel}</span></span>`;
}

/** @param {Control} props */
function Text(props) {
  const { id, node, kind, value, own, text, isBlocked, described, invalid } = props;
  // Whatever is no plain value keeps its shape.
  if (typeof own === "object") return html`<${Later} load=${loadJson} ...${props} />`;
  const words = text ?? (own === undefined ? "" : String(own));
  const change = (/** @type {any} */ e) => put(props, e.currentTarget.value);
  const common = {
    id,
    class: "field",
    readonly: isBlocked,
    "aria-describedby": described,
    "aria-invalid": invalid,
    value: words,
    onInput: change,
  };
  if (words.includes("\n")) return html`<textarea dir="auto" ...${common} rows="4"></textarea>`;
  return html`<input ...${common} type="text" inputmode=${kind.kind === "number" ? "numeric" : undefined} autocomplete="off" spellcheck="false"
    maxlength=${kind.maxLength} placeholder=${value === undefined ? node.hint.placeholder : valueWords(value)} />`;
}

/** Controls that are fetched when the first of them is seen. @type {Record<string, () => Promise<{ default: any }>>} */
const rare = { rows: () => import("./rows.js"), select: () => import("./select.js"), secret: () => import("./secret.js"), json: loadJson };
const controls = { switch: Switch, number: Text, text: Text };
