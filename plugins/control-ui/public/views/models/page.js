import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { nameOf, otherSkipped, reasonWords, roleOf, sentenceOf, stateOf } from "../../core/model-facts.js";
import { catalog, known, probe, USAGE_DAYS } from "../../core/models.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { isOnline, modelStatus, noAdminReason, now } from "../../core/store.js";
import { texts } from "../../texts/models.js";
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
  const isAdding = route.value.params.add !== undefined && (noAdminReason.value === undefined || !isOnline.value);
  const show = (/** @type {boolean} */ isOpen) => replace(formatRoute("models", "", { add: isOpen ? "1" : undefined }));
  return html`<div class="page lists models">
    <${Head} title=${texts.models} sentence=${status && sentenceOf(status)} readAt=${known.readAt.value}>
      <${Button} kind="primary" blocked=${noAdminReason.value} onClick=${() => show(true)}>${texts.addProvider}<//>
    <//>
    <${Standing} reading=${known} onRetry=${known.read} what=${texts.whatModels} plugin="agents" />
    ${found && html`<${Answering} found=${found} /><${Providers} found=${found} onAdd=${() => show(true)} />`}
    ${status && html`<${Skipped} status=${status} />`}
    ${status && isAdding && html`<${Later} load=${addDialog} status=${status} onClose=${() => show(false)} />`}
  </div>`;
}

/** @param {{ found: Known }} props */
function Answering({ found: { status, pictures } }) {
  return html`<section class="panel" aria-labelledby="answering">
    <header><h2 id="answering">${texts.modelsInUse}</h2><a class="button quiet slim" href="#/agents">${texts.agents}</a></header>
    <ul class="rows">${status.agents.map(
      ({ agentId, isDefault, setBy, models }) => html`<li key=${agentId} class="answering">
        <p class="top-line"><span class="cut title" dir="auto">${agentId}</span>${isDefault && html`<span class="badge">${texts.default}</span>`}</p>
        <ol class="chain">${models.map((model, i) => html`<${Choice} key=${nameOf(model)} model=${model} role=${roleOf(i)} />`)}</ol>
        <p class="muted small wrap">${setBy === undefined ? texts.nobodyNamesModel : texts.setBy(setBy)}</p>
      </li>`,
    )}
      <li class="answering"><p class="top-line"><span class="title">${texts.pictures}</span></p>
        <p class="wrap small">${pictures ?? html`<span class="muted">${texts.modelSessionWhere}</span>`}</p></li>
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
    return html`<div class="empty"><h2>${texts.noProviderYet}</h2>
      <p>${texts.answersQuoteYour}</p>
      <${Button} kind="primary" blocked=${blocked} onClick=${onAdd}>${texts.addProvider}<//></div>`;
  }
  return html`<section class="panel" aria-labelledby="providers">
    <header><h2 id="providers">${texts.providersLabel}</h2>
      <span class="actions"><${Check} /><a class="button quiet slim" href="#/usage?by=model">${texts.usageModel}</a></span></header>
    <ul class="rows">${status.providers.map(
      (provider) => html`<${ProviderRow} key=${provider.id} provider=${provider} status=${status} usage=${usage}
        models=${models?.filter((one) => one.provider === provider.id)} isOpen=${status.providers.length === 1} />`,
    )}</ul>
    ${usage && html`<p class="inside padded muted small">${texts.usageLastDays(USAGE_DAYS)}</p>`}
    ${catalog.failure.value ? html`<p class="inside padded muted small">${texts.listsModelsCould(/** @type {Error} */ (catalog.failure.value).message)}</p>` : null}
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
  return html`<${Button} kind="slim" blocked=${isOnline.value ? undefined : texts.notConnectedGateway} onClick=${check}>${isBusy ? texts.checking : texts.checkServers}<//>`;
}

/** @param {{ status: ModelStatus }} props */
function Skipped({ status }) {
  const skipped = otherSkipped(status);
  if (skipped.length === 0) return null;
  return html`<section class="panel" aria-labelledby="skipped">
    <header><h2 id="skipped">${texts.setUpBut}</h2></header>
    <ul class="rows">${skipped.map(
      ({ provider, reason }) =>
        html`<li key=${provider} class="row-line"><span class="grow"><span class="title wrap" dir="auto">${provider}</span><span class="wrap muted small">${reason}</span></span>
          <span class="actions"><${Button} kind="slim danger" label=${texts.removeOf(provider)} blocked=${noAdminReason.value} onClick=${() => remove(provider, status)}>${texts.remove}<//></span></li>`,
    )}</ul>
  </section>`;
}
