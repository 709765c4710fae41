import { clock } from "../../core/format.js";
import { html } from "../../core/html.js";
import { keyOf } from "../../core/panel-facts.js";
import { panelList, panels } from "../../core/panels.js";
import { chatAddress, formatRoute, route } from "../../core/router.js";
import { isOnline, lastOnlineAt } from "../../core/store.js";
import { texts } from "../../texts/panels.js";
import { Failure, Waiting } from "../../ui/states.js";
import { PanelOf, Refresh } from "./panel.js";
import "./start.js";

/** Page of one panel that a plugin shows; it comes and goes with its plugin. */
export default function PanelPage() {
  const { rest, params } = route.value;
  const panel = panels.value.find((one) => keyOf(one) === rest);
  const failure = panelList.failure.value;
  const subject = { ...(params.s ? { sessionKey: params.s } : {}), ...(params.r ? { runId: params.r } : {}) };
  if (panel)
    return html`<${PanelOf} key=${`${rest}?${params.s}?${params.r}`} panel=${panel} subject=${subject} top=${2} draw=${(/** @type {any} */ parts) => html`<${Shown} panel=${panel} parts=${parts} />`} />`;
  if (failure) return html`<div class="page lists"><${Failure} what=${texts.notRead} error=${failure} onRetry=${panelList.read} /></div>`;
  if (!panelList.answer.value) return html`<div class="page lists"><${Waiting} rows=${6} /></div>`;
  return html`<${Gone} plugin=${rest.split("/")[0] ?? ""} />`;
}

/** @param {{ panel: import("../../core/panel-facts.js").Panel, parts: Parameters<import("./panel.js").Draw>[0] }} props */
function Shown({ panel, parts: { title, readAt, onRefresh, body } }) {
  const plugin = panel.pluginId;
  const session = route.value.params.s;
  const isStale = !isOnline.value;
  const sentence = isStale ? texts.asOf({ plugin, at: clock(readAt || lastOnlineAt.value) }) : texts.ofPlugin(plugin);
  return html`<div class="page lists plugin-panel">
    <div class="head"><div class="stack tight-head"><h1 class="wrap">${title}</h1><p class="muted">${sentence}</p></div>
      <div class="line">${session && html`<a class="button slim" href=${chatAddress(session)}>${texts.back}</a>`}<${Refresh} label=${panel.label} onRefresh=${onRefresh} /></div></div>
    ${panel.kind === "frame" ? body : html`<section class="panel" aria-label=${title}><div class="inside padded stack">${body}</div></section>`}
  </div>`;
}

/** @param {{ plugin: string }} props */
function Gone({ plugin }) {
  return html`<div class="page lists"><div class="empty"><h1>${texts.gone}</h1><p class="wrap">${texts.goneWhy(plugin)}</p>
    <p><a href=${formatRoute("plugins", "", { q: plugin || undefined })}>${texts.toPlugins}</a></p></div></div>`;
}
