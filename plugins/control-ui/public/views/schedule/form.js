import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { draftOf, exampleDraft, paramsOf, patchOf, problemsOf, units } from "../../core/job-draft.js";
import { addJob, forgetDraft, keepDraft, keptDraft, updateJob } from "../../core/schedule.js";
import { whenWords } from "../../core/schedule-facts.js";
import { health, isOnline } from "../../core/store.js";
import { texts } from "../../texts/schedule.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";

/** @typedef {import("../../core/schedule-facts.js").Job} Job */
/** @typedef {import("../../core/job-draft.js").Draft} Draft */
/** @typedef {{ draft: Draft, problems: Partial<Record<keyof Draft, string>>, onChange: (change: Partial<Draft>) => void }} Part */

const kinds = /** @type {const} */ ([
  ["cron", texts.byACrontab],
  ["every", texts.intervals],
  ["at", texts.onceLabel],
]);
const targets = /** @type {const} */ ([
  ["isolated", texts.askSessionOwn],
  ["main", texts.leaveLineMain],
]);

/**
 * Form of a new job, or of one that is edited. What is typed is kept in the tab until it is saved or thrown away.
 * @param {{ job?: Job | undefined, onDone: () => unknown, onClose: () => void }} props
 */
export function JobForm({ job, onDone, onClose }) {
  const fresh = job ? draftOf(job) : exampleDraft(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const name = job?.id ?? "new";
  const [found] = useState(() => keptDraft(name, fresh));
  const [draft, setDraft] = useState(found ?? fresh);
  const [problems, setProblems] = useState(/** @type {Part["problems"]} */ ({}));
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  /** @param {Partial<Draft>} change */
  const change = (change) => {
    const next = { ...draft, ...change };
    setDraft(next);
    setProblems({});
    keepDraft(name, next);
  };
  const startOver = () => {
    forgetDraft(name);
    setDraft(fresh);
    setProblems({});
  };
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    const wrong = problemsOf(draft);
    setProblems(wrong);
    setError("");
    if (isBusy || !isOnline.value || Object.keys(wrong).length > 0) return;
    setBusy(true);
    try {
      announce(await save(draft, job));
      forgetDraft(name);
      await onDone();
      onClose();
    } catch (failure) {
      setError(/** @type {Error} */ (failure).message);
      setBusy(false);
    }
  };
  const part = { draft, problems, onChange: change };
  const isChanged = JSON.stringify(draft) !== JSON.stringify(fresh);
  const title = job ? texts.edit(job.name) : texts.newJob;
  return html`<${Dialog} label=${title} onClose=${onClose}>
    <form class="job-form" onSubmit=${submit} novalidate>
      <h2>${title}</h2>
      ${found && isChanged && html`<p class="muted small line">${texts.continuedBefore} <${Button} kind="slim" onClick=${startOver}>${texts.startOver}<//></p>`}
      <${TextField} ...${part} name="name" label=${texts.name} isFirst=${true} />
      <${When} ...${part} />
      <${What} ...${part} />
      ${draft.target === "isolated" && html`<${Where} ...${part} />`}
      ${error && html`<p class="notice bad" role="alert">${error}</p>`}
      <div class="actions">
        <${Button} onClick=${onClose}>${texts.cancel}<//>
        <${Button} type="submit" kind="primary" blocked=${isOnline.value ? undefined : texts.notConnectedGateway}>${isBusy ? texts.saving : job ? texts.save : texts.create}<//>
      </div>
    </form>
  <//>`;
}

/** @param {Draft} draft @param {Job | undefined} job @returns {Promise<string>} what was done */
async function save(draft, job) {
  const name = draft.name.trim();
  if (!job) {
    await addJob(paramsOf(draft));
    return texts.created(name);
  }
  const patch = patchOf(draft, job);
  if (!patch) return texts.nothingChanged;
  await updateJob(job.id, patch);
  return texts.saved(name);
}

/** @param {Part} props */
function When({ draft, problems, onChange }) {
  const { kind, unit } = draft;
  const part = { draft, problems, onChange };
  const isSound = Object.keys(problemsOf(draft)).every((name) => !["expr", "every", "at"].includes(name));
  return html`<fieldset>
    <legend class="label">${texts.when}</legend>
    <${Choice} label=${texts.when} of=${kinds} value=${kind} onChoose=${(/** @type {Draft["kind"]} */ next) => onChange({ kind: next })} />
    ${
      kind === "cron" &&
      html`<div class="pair"><${TextField} ...${part} name="expr" label=${texts.crontab} hint=${texts.minuteHourDay} isMono=${true} />
        <${TextField} ...${part} name="tz" label=${texts.timeZone} hint=${texts.gatewayS} /></div>`
    }
    ${
      kind === "every" &&
      html`<div class="pair"><${TextField} ...${part} name="every" label=${texts.everyLabel} type="number" />
        <label><span class="label">${texts.unit}</span><select class="field" value=${unit} onChange=${(/** @type {any} */ e) => onChange({ unit: e.currentTarget.value })}>${Object.keys(
          units,
        ).map(
          (name) =>
            html`<option key=${name} value=${name} selected=${name === unit}>${texts.unitNames[/** @type {keyof typeof units} */ (name)]}</option>`,
        )}</select></label></div>`
    }
    ${kind === "at" && html`<${TextField} ...${part} name="at" label=${texts.dateTime} type="datetime-local" />`}
    ${isSound && html`<p class="muted small">${texts.runsWhen(whenWords(paramsOf(draft).schedule))}</p>`}
    ${kind === "at" && html`<${Check} label=${texts.deleteJobOnce} isOn=${draft.isOnce} onChange=${(/** @type {boolean} */ isOnce) => onChange({ isOnce })} />`}
  </fieldset>`;
}

/** @param {Part} props */
function What({ draft, problems, onChange }) {
  const { target, text, agentId } = draft;
  const agents = /** @type {Array<{ agentId: string }>} */ (health.value?.agents ?? []);
  const isOwn = target === "isolated";
  return html`<fieldset>
    <legend class="label">${texts.what}</legend>
    <${Choice} label=${texts.what} of=${targets} value=${target} onChoose=${(/** @type {Draft["target"]} */ next) => onChange({ target: next })} />
    <label><span class="label">${isOwn ? texts.messageAgent : texts.lineAgent}</span>
      <textarea dir="auto" class="field" rows="4" maxlength="32768" aria-invalid=${problems.text ? "true" : undefined} value=${text}
        onInput=${(/** @type {any} */ e) => onChange({ text: e.currentTarget.value })}></textarea></label>
    <${Problem} text=${problems.text} />
    ${
      !isOwn &&
      html`<${Check} label=${texts.readsLineOnce} isOn=${draft.wakeMode === "now"}
      onChange=${(/** @type {boolean} */ isNow) => onChange({ wakeMode: isNow ? "now" : "next-heartbeat" })} />`
    }
    ${
      (agents.length > 1 || agentId !== "") &&
      html`<label><span class="label">${texts.agent}</span><select class="field" value=${agentId} onChange=${(/** @type {any} */ e) => onChange({ agentId: e.currentTarget.value })}>
        <option value="">${texts.defaultAgent}</option>
        ${agents.map(({ agentId: id }) => html`<option key=${id} value=${id} selected=${id === agentId}>${id}</option>`)}</select></label>`
    }
    ${isOwn && html`<${TextField} draft=${draft} problems=${problems} onChange=${onChange} name="model" label=${texts.model} hint=${texts.agentSOwn} />`}
  </fieldset>`;
}

/** @param {Part} part */
function Where(part) {
  const { draft, onChange } = part;
  return html`<fieldset>
    <legend class="label">${texts.answer}</legend>
    <${Check} label=${texts.tellChannel} isOn=${draft.announce} onChange=${(/** @type {boolean} */ announce) => onChange({ announce })} />
    ${
      draft.announce &&
      html`<div class="pair"><${TextField} ...${part} name="channel" label=${texts.channel} hint=${texts.whereYouWrote} />
        <${TextField} ...${part} name="to" label=${texts.recipient} /></div>`
    }
  </fieldset>`;
}

/** @param {Part & { name: keyof Draft, label: string, hint?: string, type?: string, isMono?: boolean, isFirst?: boolean }} props */
function TextField({ draft, problems, onChange, name, label, hint, type = "text", isMono = false, isFirst = false }) {
  return html`<div>
    <label><span class="label">${label}</span><input class=${`field ${isMono ? "mono" : ""}`} type=${type} autocomplete="off" autofocus=${isFirst}
      maxlength="512" placeholder=${hint} aria-invalid=${problems[name] ? "true" : undefined} value=${draft[name]}
      onInput=${(/** @type {any} */ e) => onChange({ [name]: e.currentTarget.value })} /></label>
    <${Problem} text=${problems[name]} />
  </div>`;
}

/** @param {{ text?: string | undefined }} props */
function Problem({ text }) {
  return text ? html`<p class="reason bad small" role="alert">${text}</p>` : null;
}

/** @param {{ label: string, isOn: boolean, onChange: (isOn: boolean) => void }} props */
function Check({ label, isOn, onChange }) {
  return html`<label class="check"><input type="checkbox" checked=${isOn} onChange=${(/** @type {any} */ e) => onChange(e.currentTarget.checked)} /><span>${label}</span></label>`;
}

/** @param {{ label: string, of: ReadonlyArray<readonly [string, string]>, value: string, onChoose: (value: any) => void }} props */
function Choice({ label, of, value, onChoose }) {
  return html`<div class="choice" role="group" aria-label=${label}>${of.map(
    ([id, word]) => html`<button key=${id} type="button" aria-pressed=${id === value} onClick=${() => onChoose(id)}>${word}</button>`,
  )}</div>`;
}
