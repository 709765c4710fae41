import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { filters, sentenceOf, shownOf } from "../../core/plugin-facts.js";
import { pluginList } from "../../core/plugins.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/plugins.js";
import { Button } from "../../ui/button.js";
import { Search } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { PluginRow } from "./row.js";

const install = () => import("./install.js");

const words = { all: texts.all, trouble: texts.needsYou, on: texts.on, off: texts.off };

/** Page of the plugins: how each is, what it adds, and a switch for it. */
export default function PluginsPage() {
  const { q = "", f = "all" } = route.value.params;
  const filter = filters.find((name) => name === f) ?? "all";
  useLive(pluginList.read, { events: ["plugins.changed"] });
  const list = pluginList.answer.value;
  const shown = list ? shownOf(list.plugins, { f: filter, q }) : [];
  /** @param {{ q?: string, f?: string }} change */
  const show = (change) => {
    const next = { q, f: filter, ...change };
    replace(formatRoute("plugins", "", { q: next.q || undefined, f: next.f === "all" ? undefined : next.f }));
  };
  const blocked = noAdminReason.value ?? (list && !list.mutationAllowed ? texts.configGatewayMay : undefined);
  return html`<div class="page lists plugins">
    <${Head} title=${texts.plugins} sentence=${list && sentenceOf(list.plugins)} readAt=${pluginList.readAt.value} />
    <div class="tools">
      <div class="search grow"><${Search} /><input type="search" class="field" placeholder=${texts.namePurpose} aria-label=${texts.searchPlugins} maxlength="200"
        value=${q} onInput=${(/** @type {any} */ e) => show({ q: e.currentTarget.value })} /></div>
      <div class="choice" role="group" aria-label=${texts.show}>${filters.map(
        (name) =>
          html`<button key=${name} type="button" aria-pressed=${name === filter} onClick=${() => show({ f: name })}>${words[name]}</button>`,
      )}</div>
    </div>
    <${Standing} reading=${pluginList} onRetry=${pluginList.read} what=${texts.whatPlugins} rows=${8} />
    ${
      shown.length > 0 &&
      html`<section class="panel" aria-label=${texts.pluginList}><ul class="rows">${shown.map(
        (plugin) => html`<${PluginRow} key=${plugin.id} plugin=${plugin} blocked=${blocked} />`,
      )}</ul></section>
      <p class="muted small">${texts.someOf({ shown: count(shown.length), plugins: count(list?.plugins.length ?? 0) })}</p>`
    }
    ${list && shown.length === 0 && html`<${Nothing} filter=${filter} q=${q} onShow=${show} />`}
    <${Later} load=${install} blocked=${blocked} />
  </div>`;
}

/** @param {{ filter: string, q: string, onShow: (change: { q: string, f: string }) => void }} props */
function Nothing({ filter, q, onShow }) {
  if (filter === "trouble" && q === "") return html`<div class="empty"><h2>${texts.noPluginNeeds}</h2></div>`;
  return html`<div class="empty"><h2>${texts.noPluginMatches}</h2><${Button} onClick=${() => onShow({ q: "", f: "all" })}>${texts.showAll}<//></div>`;
}
