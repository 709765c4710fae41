import { useEffect, useState } from "preact/hooks";
import { moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { configKeys, contributionsOf, placeOf } from "../../core/plugin-facts.js";
import { inspect } from "../../core/plugins.js";
import { formatRoute } from "../../core/router.js";
import { isOnline } from "../../core/store.js";
import { Command } from "../../ui/button.js";
import { Failure, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/plugin-facts.js").Plugin} Plugin */
/** @typedef {import("../../core/plugin-facts.js").Inspected} Inspected */

/** Everything about one plugin, read when it is opened and after each change of it. @param {{ plugin: Plugin }} props */
export function Detail({ plugin }) {
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
    return html`<div class="detail"><${Failure} what="The plugin could not be read." error=${error} onRetry=${() => setTurn(turn + 1)} /></div>`;
  if (!found) return html`<div class="detail"><${Waiting} rows=${3} label="Loading the plugin" /></div>`;
  const { source, declared, permissions, configSchema, homepage } = found;
  const facts = [
    ["From", `${origin}${source.installed ? ", installed" : ""}: ${source.root}`],
    ...(place === undefined ? [] : [["Broke at", `${source.root}/${place}`]]),
    ...(runtime.since > 0 ? [["Since", moment(runtime.since)]] : []),
    ...(runtime.ms === undefined ? [] : [["Loaded in", `${Math.round(runtime.ms)} ms`]]),
    ["Permissions", permissions.length === 0 ? "none" : permissions.join(", ")],
  ];
  return html`<div class="detail stack">
    <dl class="facts-table small">${facts.map(([name, text]) => html`<dt key=${name} class="muted">${name}</dt><dd>${text}</dd>`)}
      ${isWebAddress(homepage) && html`<dt class="muted">Homepage</dt><dd><a href=${homepage} target="_blank" rel="noopener noreferrer">${homepage}</a></dd>`}</dl>
    <${Contributions} declared=${declared} />
    <${Config} id=${id} schema=${configSchema} />
  </div>`;
}

/** @param {{ declared: Record<string, string[]> }} props */
function Contributions({ declared }) {
  const list = contributionsOf(declared);
  if (list.length === 0) return html`<p class="muted small">It adds nothing that has a name.</p>`;
  return html`<dl class="facts-table small">${list.map(
    ({ kind, names }) =>
      html`<dt key=${kind} class="muted">${kind}${names.length === 1 ? "" : "s"}</dt><dd class="mono">${names.join(", ")}</dd>`,
  )}</dl>`;
}

/** @param {{ id: string, schema: Record<string, any> | undefined }} props */
function Config({ id, schema }) {
  const keys = configKeys(schema);
  const [first] = keys;
  if (!first) return html`<p class="muted small">It has no config of its own.</p>`;
  return html`<div class="stack tight">
    <h2>Config</h2>
    <dl class="facts-table small">${keys.map(({ key, text }) => html`<dt key=${key} class="mono">${key}</dt><dd class="muted">${text}</dd>`)}</dl>
    <p><a href=${formatRoute("config", `plugins.entries.${id}.config`)}>Change it in Config</a>, or on the gateway's machine:</p>
    <${Command} command=${`svc config set plugins.entries.${id}.config.${first.key} <value>`} />
  </div>`;
}

/** Other schemes would run something, or lead nowhere. @param {string | undefined} address */
function isWebAddress(address) {
  return address?.startsWith("https://") || address?.startsWith("http://");
}
