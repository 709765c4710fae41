import { useId, useState } from "preact/hooks";
import { edits, mine, schema, setEdit } from "../../core/config.js";
import { childOf, kindOf, labelOf } from "../../core/config-facts.js";
import { freshValue, nameProblem } from "../../core/config-maps.js";
import { formatPath, isWithin, parsePath, valueAt } from "../../core/config-paths.js";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { route } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config-more.js";
import { Button } from "../../ui/button.js";

/** @typedef {import("../../core/config-types.js").Node} Node */
/** @typedef {import("../../core/config-types.js").Model} Model */

/** Rows of a map that are drawn at once. */
const PAGE = 50;

/** Members of a map, a page at a time, and a field for one more. @param {{ node: Node, rows: Node[], rest: Record<string, any>, Member: any }} props */
export default function Rows({ node, rows, rest, Member }) {
  const model = /** @type {Model} */ (schema.answer.value);
  const [limit, setLimit] = useState(PAGE);
  const [name, setName] = useState("");
  const [problem, setProblem] = useState("");
  const id = useId();
  const unknown = [...edits.value.values()].filter(
    ({ path, problem: why }) => why !== undefined && path.length === node.path.length + 1 && isWithin(path, node.path),
  );
  const known = new Set(rows.map(({ path }) => path.at(-1)));
  const all = [...rows, ...unknown.flatMap(({ path }) => (known.has(path.at(-1)) ? [] : [childOf(node, path.at(-1) ?? "", rest, model)]))];
  const wanted = parsePath(route.value.rest)[node.path.length];
  const shown = all.slice(0, Math.max(limit, all.findIndex(({ path }) => path.at(-1) === wanted) + 1));
  const add = (/** @type {Event} */ event) => {
    event.preventDefault();
    const wrong =
      nameProblem(node, name, model) ?? (valueAt(mine.value, [...node.path, name]) === undefined ? undefined : texts.thereOneName);
    setProblem(wrong ?? "");
    if (wrong) return;
    const row = childOf(node, name, rest, model);
    const kind = kindOf(row.schema, model, row.hint);
    setEdit(kind.kind === "secret" ? { path: row.path, text: "", problem: texts.writeValue } : { path: row.path, value: freshValue(kind) });
    setName("");
  };
  return html`<div class="map">
    ${shown.map((row) => html`<${Member} key=${formatPath(row.path)} node=${row} onRemove=${() => setEdit({ path: row.path })} />`)}
    ${shown.length < all.length && html`<div class="foot"><span class="muted small">${texts.someOf({ shown: count(shown.length), all: count(all.length) })}</span><${Button} onClick=${() => setLimit(limit + PAGE)}>${texts.showMore}<//></div>`}
    ${
      !noAdminReason.value &&
      html`<form class="line-row" onSubmit=${add}>
        <input class="field" aria-label=${texts.nameOneMore(labelOf(node))} placeholder=${texts.name} autocomplete="off" spellcheck="false" maxlength="256" value=${name}
          aria-invalid=${problem ? "true" : undefined} aria-describedby=${problem ? id : undefined} onInput=${(/** @type {any} */ e) => setName(e.currentTarget.value)} />
        <${Button} type="submit" label=${texts.addOf(labelOf(node))}>${texts.add}<//>
      </form>
      ${problem && html`<p id=${id} class="reason bad small" role="alert">${problem}</p>`}`
    }
  </div>`;
}
