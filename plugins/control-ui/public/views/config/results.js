import { useMemo } from "preact/hooks";
import { base } from "../../core/config.js";
import { labelOf } from "../../core/config-facts.js";
import { formatPath } from "../../core/config-paths.js";
import { fieldsOf, matching } from "../../core/config-search.js";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { formatRoute } from "../../core/router.js";
import { texts } from "../../texts/config-more.js";
import { withCode } from "../../ui/code.js";

/** @typedef {import("../../core/config-types.js").Model} Model */

const MOST_SHOWN = 50;

/** Settings that a search finds. @param {{ model: Model, q: string }} props */
export default function Results({ model, q }) {
  const parsed = base.value?.parsed;
  const fields = useMemo(() => fieldsOf(model, parsed), [model, parsed]);
  const found = matching(fields, q);
  if (found.length === 0) return html`<div class="empty"><h2>${texts.noSettingMatches(q)}</h2><p>${texts.searchCoversNames}</p></div>`;
  return html`<section class="panel" aria-label=${texts.foundSettings}><ul class="rows">${found.slice(0, MOST_SHOWN).map(({ node }) => {
    const path = formatPath(node.path);
    return html`<li key=${path}><a class="row-line" href=${formatRoute("config", path)}><span class="grow"><span class="title">${labelOf(node)}</span>
      <span class="mono small wrap">${path}</span><span class="muted small cut">${withCode(node.hint.help ?? "")}</span></span></a></li>`;
  })}</ul></section><p class="muted small">${texts.foundOf({ min: count(Math.min(found.length, MOST_SHOWN)), found: count(found.length) })}</p>`;
}
