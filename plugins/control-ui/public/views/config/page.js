import { useEffect } from "preact/hooks";
import { base, config, DRAFT, edits, foreign, hasEdits, issues, look, schema } from "../../core/config.js";
import { kindOf, labelOf, membersOf, rootNode } from "../../core/config-facts.js";
import { parsePath } from "../../core/config-paths.js";
import { onEvent, onOnline } from "../../core/conn.js";
import { ofTab } from "../../core/env.js";
import { html } from "../../core/html.js";
import { isNarrow } from "../../core/look.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config.js";
import { withCode } from "../../ui/code.js";
import { Back, Search } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { Field } from "./field.js";
import { Group } from "./group.js";

/** @import { Model, Node } from "../../core/config-types.js" */

const FIRST = "gateway";
const loadRaw = () => import("./raw.js");
const loadNotices = () => import("./notices.js");
const loadResults = () => import("./results.js");
const loadFoot = () => import("./foot.js");
const loadGuard = () => import("./guard.js");
/** Plugins come several at a time. */
const SCHEMA_AFTER_MS = 1_000;

/** Page of the config: a form made from its schema, section by section, or the text of the file. */
export default function ConfigPage() {
  const { rest, params } = route.value;
  const isRaw = params.v === "raw";
  const { q = "" } = params;
  useLive(look, { events: ["config.changed"] });
  useSchema();
  const isThere = base.value !== undefined;
  useEffect(() => {
    if (isThere && ofTab.get(DRAFT) !== null)
      import("../../core/config-draft.js").then(
        ({ restore }) => restore(),
        () => undefined,
      );
  }, [isThere]);
  const model = schema.answer.value;
  const known = base.value;
  const sections = model ? membersOf(rootNode(model), undefined, model).named : [];
  const wanted = parsePath(rest)[0];
  const open = sections.find(({ path }) => path[0] === (wanted ?? (isNarrow.value ? "" : FIRST)));
  const isReady = model !== undefined && known !== undefined;
  return html`<div class="page lists config">
    <${Head} title=${texts.config} sentence=${known && sentenceOf(known)} readAt=${config.readAt.value}>
      <div class="choice" role="group" aria-label=${texts.show}>${[texts.form, texts.raw].map(
        (word) =>
          html`<button key=${word} type="button" aria-pressed=${isRaw === (word === texts.raw)} onClick=${() => replace(formatRoute("config", rest, { v: word === texts.raw ? "raw" : undefined }))}>${word}</button>`,
      )}</div>
    <//>
    ${isNoticed() && html`<${Later} load=${loadNotices} />`}
    <${Standing} reading=${config} onRetry=${look} what=${texts.whatSettings} rows=${8} />
    ${known && !isRaw && html`<${Standing} reading=${schema} onRetry=${schema.read} what=${texts.schemaConfig} rows=${0} />`}
    ${known && isRaw && html`<${Later} load=${loadRaw} />`}
    ${
      isReady &&
      !isRaw &&
      html`<div class="tools"><div class="search grow"><${Search} /><input type="search" class="field" placeholder=${texts.namePurposeSetting} aria-label=${texts.searchSettings}
          maxlength="200" value=${q} onInput=${(/** @type {any} */ e) => replace(formatRoute("config", rest, { q: e.currentTarget.value || undefined }))} /></div></div>
        ${q.trim() === "" ? html`<${Form} sections=${sections} open=${open} />` : html`<${Later} load=${loadResults} model=${model} q=${q} />`}`
    }
    ${hasEdits.value && html`<${Later} load=${loadGuard} />`}
    ${(edits.value.size > 0 || issues.value.length > 0) && !isRaw && html`<${Later} load=${loadFoot} />`}
  </div>`;
}

/** @param {import("../../core/config.js").Config} known */
function sentenceOf({ path, exists, valid }) {
  return html`${exists ? "" : texts.notWrittenYet}<span class="mono">${path}</span>${valid ? "" : texts.notValidGateway}`;
}

/** Is there something to be known before anything is changed? */
function isNoticed() {
  const { pendingRestart = [], warnings = [], valid = true } = base.value ?? {};
  return noAdminReason.value !== undefined || foreign.value !== undefined || !valid || warnings.length + pendingRestart.length > 0;
}

function useSchema() {
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(() => schema.read(), SCHEMA_AFTER_MS);
    };
    const ends = [onOnline(() => schema.read()), onEvent("plugins.changed", later)];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, []);
}

/** @param {{ sections: Node[], open: Node | undefined }} props */
function Form({ sections, open }) {
  const isList = isNarrow.value && !open;
  const isUnknown = !open && !isList;
  return html`<div class=${`config-form ${isNarrow.value ? "" : "two"}`}>
    ${(isList || !isNarrow.value) && html`<${Sections} sections=${sections} open=${open} />`}
    ${open && html`<${Section} key=${open.path[0]} node=${open} />`}
    ${isUnknown && html`<div class="empty"><h2>${texts.thereNoSetting}</h2><a class="button" href="#/config">${texts.showAllSections}</a></div>`}
  </div>`;
}

/** @param {{ sections: Node[], open: Node | undefined }} props */
function Sections({ sections, open }) {
  const touched = new Set([...edits.value.values()].map(({ path }) => path[0]));
  const refused = new Set(issues.value.map(({ path }) => parsePath(path)[0]));
  return html`<nav class="config-sections" aria-label=${texts.sections}><ul>${sections.map((section) => {
    const key = section.path[0] ?? "";
    const badge = refused.has(key) ? ["bad", texts.refused] : touched.has(key) ? ["info", texts.changed] : undefined;
    return html`<li key=${key}><a href=${formatRoute("config", key)} aria-current=${section === open ? "true" : undefined}><span class="cut grow" dir="auto">${labelOf(section)}</span>
      ${badge && html`<span class=${`badge ${badge[0]}`}>${badge[1]}</span>`}</a></li>`;
  })}</ul></nav>`;
}

/** @param {{ node: Node }} props */
function Section({ node }) {
  const model = /** @type {Model} */ (schema.answer.value);
  const isGroup = kindOf(node.schema, model, node.hint).kind === "group";
  const help = node.hint.help ?? node.schema.description;
  return html`<section class="panel" aria-labelledby="section">
    <header>${isNarrow.value && html`<a class="button quiet icon" href="#/config" aria-label=${texts.allSections}><${Back} /></a>`}<h2 id="section" class="grow">${labelOf(node)}</h2></header>
    <div class="inside">${help && html`<p class="muted small wrap">${withCode(help)}.</p>`}${isGroup ? html`<${Group} node=${node} />` : html`<${Field} node=${node} />`}</div>
  </section>`;
}
