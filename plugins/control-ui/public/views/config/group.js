import { useEffect, useId, useState } from "preact/hooks";
import { edits, issues, mine, schema } from "../../core/config.js";
import { kindOf, labelOf, membersOf } from "../../core/config-facts.js";
import { formatPath, isWithin, parsePath, valueAt } from "../../core/config-paths.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { route } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config.js";
import { Button } from "../../ui/button.js";
import { withCode } from "../../ui/code.js";
import { Open } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";
import { Field } from "./field.js";

/** @import { Model, Node } from "../../core/config-types.js" */

const loadMap = () => import("./map.js");

/** Settings of one group; groups in it are folded, and drawn when they are opened. @param {{ node: Node }} props */
export function Group({ node }) {
  const model = /** @type {Model} */ (schema.answer.value);
  const { named, rows, rest } = membersOf(node, valueAt(mine.value, node.path), model);
  const isGroup = (/** @type {Node} */ one) => kindOf(one.schema, model, one.hint).kind === "group";
  const daily = named.filter(({ hint }) => !hint.advanced);
  const advanced = named.filter(({ hint }) => hint.advanced);
  const draw = (/** @type {Node[]} */ list) =>
    [...list.filter((one) => !isGroup(one)), ...list.filter(isGroup)].map(
      (one) => html`<${Member} key=${formatPath(one.path)} node=${one} />`,
    );
  return html`<div class="settings">
    ${draw(daily)}
    ${rest && html`<${Later} load=${loadMap} node=${node} rows=${rows} rest=${rest} Member=${Member} />`}
    ${advanced.length > 0 && html`<${Fold} label=${texts.advanced} note=${plural(advanced.length, texts.settings)} paths=${advanced.map(({ path }) => path)}>${() => draw(advanced)}<//>`}
    ${named.length === 0 && !rest && html`<p class="muted small">${texts.noSettings}</p>`}
  </div>`;
}

/** @param {{ node: Node, onRemove?: () => void }} props */
function Member({ node, onRemove }) {
  const model = /** @type {Model} */ (schema.answer.value);
  if (kindOf(node.schema, model, node.hint).kind !== "group") return html`<${Field} node=${node} onRemove=${onRemove} />`;
  return html`<${Fold} label=${onRemove ? node.path.at(-1) : labelOf(node)} help=${node.hint.help ?? node.schema.description} paths=${[node.path]} onRemove=${onRemove}>
    ${() => html`<${Group} node=${node} />`}<//>`;
}

/**
 * Opens by itself where an address, an edit or a refusal leads into it.
 * @param {{ label: string, note?: string, help?: string, paths: import("../../core/config-paths.js").Path[], onRemove?: () => void, children: () => any }} props
 */
function Fold({ label, note, help, paths, onRemove, children }) {
  const wanted = parsePath(route.value.rest);
  const holds = (/** @type {readonly string[]} */ path) => paths.some((own) => isWithin(path, own));
  const isBroken = issues.value.some((issue) => holds(parsePath(issue.path)));
  const changed = [...edits.value.values()].filter(({ path }) => holds(path)).length;
  const isLed = holds(wanted) || isBroken;
  const [isOpen, setOpen] = useState(isLed || changed > 0);
  const id = useId();
  useEffect(() => {
    if (isLed) setOpen(true);
  }, [isLed]);
  return html`<div class="fold">
    <div class="setting-head">
      <button type="button" class="opener" aria-expanded=${isOpen} aria-controls=${isOpen ? id : undefined} onClick=${() => setOpen(!isOpen)}>
        <${Open} /><span class="title wrap" dir="auto">${label}</span>
        ${note && html`<span class="muted small">${note}</span>`}
        ${changed > 0 && html`<span class="badge info">${texts.changedCount(count(changed))}</span>`}
        ${isBroken && html`<span class="badge bad">${texts.refused}</span>`}
      </button>
      ${onRemove && html`<${Button} kind="quiet slim" label=${texts.removeOf(label)} blocked=${noAdminReason.value} onClick=${onRemove}>${texts.remove}<//>`}
    </div>
    ${isOpen && html`<div id=${id} class="folded">${help && html`<p class="muted small wrap">${withCode(help)}.</p>`}${children()}</div>`}
  </div>`;
}
