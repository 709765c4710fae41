import { useEffect, useState } from "preact/hooks";
import { list, moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { configKeys, contributionsOf, placeOf } from "../../core/plugin-facts.js";
import { inspect } from "../../core/plugins.js";
import { formatRoute } from "../../core/router.js";
import { isOnline, Panels } from "../../core/store.js";
import { texts } from "../../texts/plugins.js";
import { Button, Command } from "../../ui/button.js";
import { withModule } from "../../ui/later.js";
import { Failure, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/plugin-facts.js").Plugin} Plugin */
/** @typedef {import("../../core/plugin-facts.js").Inspected} Inspected */

/** Everything about one plugin, read when it is opened and after each change of it. @param {{ plugin: Plugin, blocked?: string | undefined }} props */
export function Detail({ plugin, blocked }) {
  const { id, runtime, origin } = plugin;
  const place = placeOf(plugin);
  const [found, setFound] = useState(/** @type {Inspected | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isWanted = true;
    inspect(id).then(
      (answer) => isWanted && (setFound(answer), setError(undefined)),
      (failure) => isWanted && setError(failure),
    );
    return () => {
      isWanted = false;
    };
  }, [id, runtime.instance, runtime.state, isOnline.value, turn]);
  if (!found && error)
    return html`<div class="detail"><${Failure} what=${texts.pluginCouldNot} error=${error} onRetry=${() => setTurn(turn + 1)} /></div>`;
  if (!found) return html`<div class="detail"><${Waiting} rows=${3} label=${texts.loadingPlugin} /></div>`;
  const { source, declared, permissions, configSchema, homepage } = found;
  const facts = [
    [texts.from, `${origin}${source.installed ? texts.installed : ""}: ${source.root}`],
    ...(place === undefined ? [] : [[texts.broke, `${source.root}/${place}`]]),
    ...(runtime.since > 0 ? [[texts.since, moment(runtime.since)]] : []),
    ...(runtime.ms === undefined ? [] : [[texts.loaded, texts.ms(Math.round(runtime.ms))]]),
    [texts.permissions, permissions.length === 0 ? texts.none : list(permissions)],
  ];
  return html`<div class="detail stack">
    <dl class="facts-table small">${facts.map(([name, text]) => html`<dt key=${name} class="muted">${name}</dt><dd>${text}</dd>`)}
      ${isWebAddress(homepage) && html`<dt class="muted">${texts.homepage}</dt><dd><a href=${homepage} target="_blank" rel="noopener noreferrer">${homepage}</a></dd>`}</dl>
    <${Contributions} declared=${declared} />
    <${Config} id=${id} schema=${configSchema} />
    ${Panels.value && html`<${Panels.value} at="settings" pluginId=${id} />`}
    ${source.installed && html`<div class="actions"><${Button} kind="slim danger" label=${texts.removeOf(plugin.name)} blocked=${blocked} onClick=${() => remove(plugin)}>${texts.remove}<//></div>`}
  </div>`;
}

/** @param {Plugin} plugin */
function remove(plugin) {
  void withModule(
    () => import("./install.js"),
    ({ askToRemove }) => askToRemove(plugin),
  );
}

/** @param {{ declared: Record<string, string[]> }} props */
function Contributions({ declared }) {
  const found = contributionsOf(declared);
  if (found.length === 0) return html`<p class="muted small">${texts.addsNothingName}</p>`;
  return html`<dl class="facts-table small">${found.map(
    ({ kind, names }) => html`<dt key=${kind} class="muted">${kind}</dt><dd class="mono">${list(names)}</dd>`,
  )}</dl>`;
}

/** @param {{ id: string, schema: Record<string, any> | undefined }} props */
function Config({ id, schema }) {
  const keys = configKeys(schema);
  const [first] = keys;
  if (!first) return html`<p class="muted small">${texts.noConfigOwn}</p>`;
  return html`<div class="stack tight">
    <h2>${texts.config}</h2>
    <dl class="facts-table small">${keys.map(({ key, text }) => html`<dt key=${key} class="mono">${key}</dt><dd class="muted">${text}</dd>`)}</dl>
    <p><a href=${formatRoute("config", `plugins.entries.${id}.config`)}>${texts.changeConfig}</a>${texts.gatewaySMachine}</p>
    <${Command} command=${`svc config set plugins.entries.${id}.config.${first.key} <value>`} />
  </div>`;
}

/** Other schemes would run something, or lead nowhere. @param {string | undefined} address */
function isWebAddress(address) {
  return address?.startsWith("https://") || address?.startsWith("http://");
}
