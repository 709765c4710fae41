import { useState } from "preact/hooks";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { filters, installCommand, sentenceOf, shownOf } from "../../core/plugin-facts.js";
import { pluginList } from "../../core/plugins.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { Button, Command } from "../../ui/button.js";
import { Search } from "../../ui/icons.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { PluginRow } from "./row.js";

const words = { all: "All", trouble: "Needs you", on: "On", off: "Off" };

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
  const blocked = noAdminReason.value ?? (list && !list.mutationAllowed ? "The config of this gateway may not be written" : undefined);
  return html`<div class="page lists plugins">
    <${Head} title="Plugins" sentence=${list && sentenceOf(list.plugins)} readAt=${pluginList.readAt.value} />
    <div class="tools">
      <div class="search grow"><${Search} /><input type="search" class="field" placeholder="Name or purpose" aria-label="Search plugins" maxlength="200"
        value=${q} onInput=${(/** @type {any} */ e) => show({ q: e.currentTarget.value })} /></div>
      <div class="choice" role="group" aria-label="Show">${filters.map(
        (name) =>
          html`<button key=${name} type="button" aria-pressed=${name === filter} onClick=${() => show({ f: name })}>${words[name]}</button>`,
      )}</div>
    </div>
    <${Standing} reading=${pluginList} onRetry=${pluginList.read} what="plugins" rows=${8} />
    ${
      shown.length > 0 &&
      html`<section class="panel" aria-label="Plugin list"><ul class="rows">${shown.map(
        (plugin) => html`<${PluginRow} key=${plugin.id} plugin=${plugin} blocked=${blocked} />`,
      )}</ul></section>
      <p class="muted small">${count(shown.length)} of ${count(list?.plugins.length ?? 0)}</p>`
    }
    ${list && shown.length === 0 && html`<${Nothing} filter=${filter} q=${q} onShow=${show} />`}
    <${Install} />
  </div>`;
}

/** @param {{ filter: string, q: string, onShow: (change: { q: string, f: string }) => void }} props */
function Nothing({ filter, q, onShow }) {
  if (filter === "trouble" && q === "") return html`<div class="empty"><h2>No plugin needs you</h2></div>`;
  return html`<div class="empty"><h2>No plugin matches</h2><${Button} onClick=${() => onShow({ q: "", f: "all" })}>Show all<//></div>`;
}

function Install() {
  const [source, setSource] = useState("");
  const command = source.trim() === "" ? "svc plugins install npm:<name>" : installCommand(source);
  return html`<section class="panel" aria-labelledby="install">
    <header><h2 id="install">Install another one</h2></header>
    <div class="inside stack">
      <p>On the gateway's machine, from a folder, an archive or npm. The command shows the permissions that it asks for before anything is loaded; the page then lists it by itself.</p>
      <label><span class="label">Name on npm, folder, or .tgz archive</span>
        <input class="field" autocomplete="off" spellcheck=${false} maxlength="500" value=${source} aria-invalid=${command ? undefined : "true"}
          onInput=${(/** @type {any} */ e) => setSource(e.currentTarget.value)} /></label>
      ${command ? html`<${Command} command=${command} />` : html`<p class="reason" role="alert">Expected the name of an npm package, a folder, or a .tgz archive.</p>`}
    </div>
  </section>`;
}
