import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { nameOf, otherSkipped, reasonWords, roleOf, sentenceOf, stateOf } from "../../core/model-facts.js";
import { catalog, known, probe, USAGE_DAYS } from "../../core/models.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { isOnline, modelStatus, noAdminReason, now } from "../../core/store.js";
import { Button } from "../../ui/button.js";
import { Later } from "../../ui/later.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { ProviderRow, remove } from "./provider.js";

/** @typedef {import("../../core/models.js").Known} Known */
/** @typedef {import("../../core/model-facts.js").ModelStatus} ModelStatus */

const addDialog = () => import("./add-dialog.js");

/** Page of the models: which one answers whom, and the providers that they come from. */
export default function ModelsPage() {
  // The states are read for every view, with each event about them and when a rest ends.
  useLive(known.read, { events: ["config.changed"] }, [modelStatus.value]);
  useLive(catalog.read, { events: ["models.changed"] });
  const found = known.answer.value;
  const status = found?.status;
  const isAdding = route.value.params.add !== undefined && noAdminReason.value === undefined;
  const show = (/** @type {boolean} */ isOpen) => replace(formatRoute("models", "", { add: isOpen ? "1" : undefined }));
  return html`<div class="page lists models">
    <${Head} title="Models" sentence=${status && sentenceOf(status)} readAt=${known.readAt.value}>
      <${Button} kind="primary" blocked=${noAdminReason.value} onClick=${() => show(true)}>Add a provider<//>
    <//>
    <${Standing} reading=${known} onRetry=${known.read} what="models" plugin="agents" />
    ${found && html`<${Answering} found=${found} /><${Providers} found=${found} onAdd=${() => show(true)} />`}
    ${status && html`<${Skipped} status=${status} />`}
    ${status && isAdding && html`<${Later} load=${addDialog} status=${status} onClose=${() => show(false)} />`}
  </div>`;
}

/** @param {{ found: Known }} props */
function Answering({ found: { status, pictures } }) {
  return html`<section class="panel" aria-labelledby="answering">
    <header><h2 id="answering">Who is answered by what</h2><a class="button quiet slim" href="#/agents">Agents</a></header>
    <ul class="rows">${status.agents.map(
      ({ agentId, isDefault, setBy, models }) => html`<li key=${agentId} class="answering">
        <p class="top-line"><span class="cut title">${agentId}</span>${isDefault && html`<span class="badge">default</span>`}</p>
        <ol class="chain">${models.map((model, i) => html`<${Choice} key=${nameOf(model)} model=${model} role=${roleOf(i)} />`)}</ol>
        <p class="muted small wrap">${setBy === undefined ? "Nobody names a model: the first provider that is ready answers." : `Set by ${setBy}.`}</p>
      </li>`,
    )}
      <li class="answering"><p class="top-line"><span class="title">Pictures</span></p>
        <p class="wrap small">${pictures ?? html`<span class="muted">The model of the session, where it has vision. Another one: plugins.entries.tools-web.config.image.model</span>`}</p></li>
    </ul>
  </section>`;
}

/** @param {{ model: import("../../core/model-facts.js").Choice, role: string }} props */
function Choice({ model, role }) {
  const { word, level } = stateOf(model);
  const why = reasonWords(model, now.value);
  return html`<li><span class="muted small">${role}</span><span class="wrap">${nameOf(model)}</span>
    <span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>${why && html`<span class="wrap muted small why">${why}</span>`}</li>`;
}

/** @param {{ found: Known, onAdd: () => void }} props */
function Providers({ found: { status, usage }, onAdd }) {
  const models = catalog.answer.value;
  const blocked = noAdminReason.value;
  if (status.providers.length === 0) {
    return html`<div class="empty"><h2>No provider yet</h2>
      <p>Answers quote your notes until a language model is there. A key of a vendor, an address or a server on the gateway's machine is enough.</p>
      <${Button} kind="primary" blocked=${blocked} onClick=${onAdd}>Add a provider<//></div>`;
  }
  return html`<section class="panel" aria-labelledby="providers">
    <header><h2 id="providers">Providers</h2>
      <span class="actions"><${Check} /><a class="button quiet slim" href="#/usage?by=model">Usage by model</a></span></header>
    <ul class="rows">${status.providers.map(
      (provider) => html`<${ProviderRow} key=${provider.id} provider=${provider} status=${status} usage=${usage}
        models=${models?.filter((one) => one.provider === provider.id)} isOpen=${status.providers.length === 1} />`,
    )}</ul>
    ${usage && html`<p class="inside padded muted small">Usage is that of the last ${USAGE_DAYS} days.</p>`}
    ${catalog.failure.value ? html`<p class="inside padded muted small">The lists of models could not be read: ${/** @type {Error} */ (catalog.failure.value).message}</p>` : null}
  </section>`;
}

/** Asks each server whether it is there and takes the key; nothing is paid for. */
function Check() {
  const [isBusy, setBusy] = useState(false);
  const check = async () => {
    if (isBusy) return;
    setBusy(true);
    // A failed reading says so in its own place.
    await probe().catch(() => known.read());
    setBusy(false);
  };
  return html`<${Button} kind="slim" blocked=${isOnline.value ? undefined : "Not connected to the gateway"} onClick=${check}>${isBusy ? "Checking…" : "Check servers"}<//>`;
}

/** @param {{ status: ModelStatus }} props */
function Skipped({ status }) {
  const skipped = otherSkipped(status);
  if (skipped.length === 0) return null;
  return html`<section class="panel" aria-labelledby="skipped">
    <header><h2 id="skipped">Set up, but not used</h2></header>
    <ul class="rows">${skipped.map(
      ({ provider, reason }) =>
        html`<li key=${provider} class="row-line"><span class="grow"><span class="title wrap">${provider}</span><span class="wrap muted small">${reason}</span></span>
          <span class="actions"><${Button} kind="slim danger" label=${`Remove ${provider}`} blocked=${noAdminReason.value} onClick=${() => remove(provider, status)}>Remove<//></span></li>`,
    )}</ul>
  </section>`;
}
