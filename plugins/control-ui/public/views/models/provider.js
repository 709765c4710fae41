import { useState } from "preact/hooks";
import { list, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { adviceFor, agentsOf, modelToAsk, reasonWords, stateOf, testWords, usageWords } from "../../core/model-facts.js";
import { makeDefault, testModel } from "../../core/models.js";
import { noAdminReason, now, readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/models.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Open } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";

/** @typedef {import("../../core/model-facts.js").Provider} Provider */
/** @typedef {import("../../core/model-facts.js").ModelStatus} ModelStatus */
/** @typedef {import("../../core/model-facts.js").Model} Model */
/** @typedef {import("../../core/model-facts.js").UsageRow} UsageRow */
/** @typedef {{ ref: string, text: string, isOk?: boolean, advice?: string | undefined }} Tested `isOk`: absent while it runs */

/** Id of the provider whose models are files: they have no key. */
const FILES = "local";
const modelList = () => import("./list.js").then(({ ModelList }) => ({ default: ModelList }));
const keyDialog = () => import("./key-dialog.js");

/**
 * One provider with its state and what can be done with it; it opens to its models.
 * @param {{ provider: Provider, status: ModelStatus, models: Model[] | undefined, usage: UsageRow[] | undefined, isOpen: boolean }} props
 */
export function ProviderRow({ provider, status, models, usage, isOpen: isOpenAtFirst }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [tested, setTested] = useState(/** @type {Tested | undefined} */ (undefined));
  const [isKeying, setKeying] = useState(false);
  const { id, name, keySource, defaultModel, isConfigured } = provider;
  const { word, level } = stateOf(provider);
  // One model of it may be in cooldown alone.
  const isPartly = provider.state === "cooldown" && models?.some(({ available }) => available !== false);
  const keyWord = keySource === undefined ? texts.setKey : texts.replaceKey;
  const why = reasonWords(provider, now.value);
  const first = modelToAsk("", { defaultModel, ids: (models ?? []).map((model) => model.id) });
  const used = usageWords(usage, `${id}/`);
  const blocked = noAdminReason.value;
  /** @param {string} model */
  const test = async (model) => {
    if (tested && tested.isOk === undefined) return;
    const ref = `${id}/${model}`;
    setTested({ ref, text: texts.askingOneWord });
    setTested(await outcomeOf(ref, id));
  };
  return html`<li class="foldable">
    <div class="row-line">
      <button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <${Open} />
        <span class="grow">
          <span class="top-line"><span class="cut title" dir="auto">${name ?? id}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${isPartly ? texts.partly(word) : word}</span></span>
          <span class="facts muted small">${name !== undefined && name !== id && html`<span class="wrap">${id}</span>`}
            <span class="wrap">${keySource === undefined ? texts.noKey : texts.keyFrom(keySource)}</span>${used && html`<span>${used}</span>`}</span>
        </span>
      </button>
      <span class="actions">
        <${Button} kind="slim" label=${texts.testOf(id)} blocked=${readOnlyReason.value ?? (first === undefined ? texts.noModelKnown : undefined)}
          onClick=${() => test(/** @type {string} */ (first))}>${texts.test}<//>
        ${isConfigured && id !== FILES && html`<${Button} kind="slim" label=${texts.keyOf({ keyWord, id })} blocked=${blocked} onClick=${() => setKeying(true)}>${keyWord}<//>`}
        ${isConfigured && html`<${Button} kind="slim danger" label=${texts.removeText(id)} blocked=${blocked} onClick=${() => remove(id, status)}>${texts.remove}<//>`}
      </span>
    </div>
    ${
      (why || tested) &&
      html`<div class="notes small">
        ${why && html`<p class=${`reason wrap ${level === "bad" ? "bad" : "muted"}`}>${why}</p>`}
        ${tested && html`<${Outcome} tested=${tested} />`}
      </div>`
    }
    ${isOpen && html`<${Later} load=${modelList} provider=${id} models=${models} usage=${usage} onTest=${test} onDefault=${(/** @type {string} */ model) => choose(`${id}/${model}`, status)} />`}
    ${isKeying && html`<${Later} load=${keyDialog} id=${id} title=${texts.keyOf({ keyWord, id })} onClose=${() => setKeying(false)} onDone=${() => first !== undefined && test(first)} />`}
  </li>`;
}

/** @param {string} ref @param {string} provider @returns {Promise<Tested>} */
async function outcomeOf(ref, provider) {
  try {
    const result = await testModel(ref, { isFile: provider === FILES });
    return { ref, text: testWords(result), isOk: result.ok, advice: result.ok ? undefined : adviceFor(result.fault) };
  } catch (failure) {
    return { ref, text: /** @type {Error} */ (failure).message, isOk: false };
  }
}

/** @param {{ tested: Tested }} props */
function Outcome({ tested: { ref, text, isOk, advice } }) {
  return html`<p class=${`wrap ${isOk === false ? "reason bad" : ""}`} role=${isOk === false ? "alert" : "status"}><strong>${ref}</strong> ${text}${advice && html`<br />${advice}`}</p>`;
}

/** @param {string} ref @param {ModelStatus} status */
function choose(ref, { agents }) {
  const before = agents.find(({ isDefault }) => isDefault)?.models[0];
  const instead =
    before && before.model !== "" && before.state !== "embedded" ? texts.place({ provider: before.provider, model: before.model }) : "";
  ask({
    title: texts.answer(ref),
    text: texts.answersAllAgents(instead),
    action: texts.makeItTheDefault,
    run: async () => {
      const { ownModels, restartRequired } = await makeDefault(ref);
      const others = ownModels.length === 0 ? "" : plural(ownModels.length, texts.keepTheirOwn(list(ownModels)));
      announce(restartRequired ? texts.answersDefaultAfter({ ref, others }) : texts.answersDefaultNowOf({ ref, others }));
    },
  });
}

/** Asks before a provider leaves the config. @param {string} id @param {ModelStatus} status */
export function remove(id, status) {
  const agents = agentsOf(status, id);
  const used = agents.length === 0 ? texts.noAgentAnswered : texts.answeredTheirOther(list(agents));
  ask({
    title: texts.removeQuestion(id),
    text: texts.keyAddressSettings(used),
    action: texts.remove,
    isDanger: true,
    run: async () => {
      const { removeProvider } = await import("../../core/provider-changes.js");
      const needsRestart = await removeProvider(id);
      announce(needsRestart ? texts.removedAfterRestart(id) : texts.removed(id));
    },
  });
}
