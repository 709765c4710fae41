import { useEffect, useState } from "preact/hooks";
import { filePurposes, fileWords, modelName, modelState, nameOf } from "../../core/agent-facts.js";
import { readDetail, updateAgent } from "../../core/agents.js";
import { span } from "../../core/format.js";
import { html } from "../../core/html.js";
import { formatRoute } from "../../core/router.js";
import { isOnline, noAdminReason, now } from "../../core/store.js";
import { texts } from "../../texts/agents.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Open } from "../../ui/icons.js";
import { Failure, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/agent-facts.js").Agent} Agent */
/** @typedef {import("../../core/agent-facts.js").AgentModels} AgentModels */
/** @typedef {Awaited<ReturnType<typeof readDetail>>} Known */

/** One agent; it opens to its models, tools and files. @param {{ agent: Agent, isDefault: boolean, models: AgentModels | undefined, isOpen: boolean }} props */
export function AgentRow({ agent, isDefault, models, isOpen: isOpenAtFirst }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const { id, workspace } = agent;
  const first = models?.models[0];
  const state = first && modelState(first);
  const blocked = noAdminReason.value;
  return html`<li class="foldable">
    <div class="row-line">
      <button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <${Open} />
        <span class="grow">
          <span class="top-line"><span class="cut title" dir="auto">${nameOf(agent)}</span>${isDefault && html`<span class="badge">${texts.default}</span>`}
            ${state && html`<span class=${`badge ${state.level}`}><i class=${`dot ${state.level}`}></i>${state.word}</span>`}</span>
          <span class="facts muted small"><span>${id}</span><span class="wrap">${modelName(first)}</span><span class="wrap">${workspace}</span></span>
        </span>
      </button>
      <span class="actions">
        <${Button} kind="slim" label=${texts.renameAgent(nameOf(agent))} blocked=${blocked} onClick=${() => rename(agent)}>${texts.rename}<//>
        <${Button} kind="slim" label=${texts.setModelOf(nameOf(agent))} blocked=${blocked} onClick=${() => setModel(agent)}>${texts.setModel}<//>
      </span>
    </div>
    ${isOpen && html`<div class="detail stack">${models && html`<${Models} of=${models} />`}<${Detail} agentId=${id} /></div>`}
  </li>`;
}

/** @param {{ of: AgentModels }} props */
function Models({ of: { models, setBy } }) {
  return html`<div class="stack tight"><h2>${texts.models}</h2>
    <ul class="runs small">${models.map((model) => {
      const { word, level } = modelState(model);
      const until = model.until !== undefined && model.until > now.value ? texts.triedAgain(span(model.until - now.value)) : "";
      return html`<li key=${modelName(model)} class="model"><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>
        <span class="wrap">${modelName(model)}</span>${model.reason && html`<span class="wrap muted said">${model.reason}.${until}</span>`}</li>`;
    })}</ul>
    <p class="muted small">${setBy === undefined ? texts.firstProviderReady : texts.set(setBy)}</p>
  </div>`;
}

/** Files and tools, read when the agent is opened. @param {{ agentId: string }} props */
function Detail({ agentId }) {
  const [known, setKnown] = useState(/** @type {Known | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    readDetail(agentId).then(
      (answer) => isWanted && (setKnown(answer), setError(undefined)),
      (failure) => isWanted && setError(failure),
    );
    return () => {
      isWanted = false;
    };
  }, [agentId, tries, isOnline.value]);
  if (!known && error) return html`<${Failure} what=${texts.filesToolsCould} error=${error} onRetry=${() => setTries(tries + 1)} />`;
  if (!known) return html`<${Waiting} rows=${4} label=${texts.loadingFilesTools} />`;
  const { files, tools } = known;
  const groups = tools.groups.filter((group) => group.tools.length > 0);
  return html`<div class="stack tight"><h2>${texts.files}</h2>
      <ul class="files">${files.map(
        (file) => html`<li key=${file.name}><a href=${formatRoute("agents", "", { a: agentId, file: file.name })}>${file.name}</a>
          <span class="muted small">${filePurposes[file.name] ?? ""}</span><span class="muted small">${fileWords(file, now.value)}</span></li>`,
      )}</ul></div>
    <div class="stack tight"><h2>${texts.tools}</h2>
      <p class="muted small">${texts.profile({ profile: tools.profile, what: groups.length === 0 ? texts.noTools : "." })}</p>
      <dl class="facts-table small">${groups.map(
        (group) =>
          html`<dt key=${group.id} class="muted">${group.label}</dt><dd class="mono">${group.tools.map(({ id }) => id).join(", ")}</dd>`,
      )}</dl></div>`;
}

/** @param {Agent} agent */
function rename(agent) {
  ask({
    title: texts.renameAgent(nameOf(agent)),
    text: texts.nameConfigId,
    action: texts.rename,
    field: { label: texts.name, value: agent.name ?? nameOf(agent), maxLength: 64 },
    run: async (value) => {
      if (value.trim() === "") throw new Error(texts.nameLeastOne);
      await updateAgent(agent.id, { name: value.trim() });
      announce(texts.agentRenamed);
    },
  });
}

/** @param {Agent} agent */
function setModel(agent) {
  ask({
    title: texts.model(nameOf(agent)),
    text: texts.providerModelEmpty,
    action: texts.setLabel,
    field: { label: texts.modelLabel, value: agent.model?.primary ?? "", maxLength: 256 },
    run: async (value) => {
      const model = value.trim();
      await updateAgent(agent.id, { model: model === "" ? null : model });
      announce(model === "" ? texts.defaultModelAnswers : texts.answersNow(model));
    },
  });
}
