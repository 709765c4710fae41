import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { draftOf, exampleDraft, paramsOf, patchOf, problemsOf, units } from "../../core/job-draft.js";
import { addJob, forgetDraft, keepDraft, keptDraft, updateJob } from "../../core/schedule.js";
import { whenWords } from "../../core/schedule-facts.js";
import { health, isOnline } from "../../core/store.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";

/** @typedef {import("../../core/schedule-facts.js").Job} Job */
/** @typedef {import("../../core/job-draft.js").Draft} Draft */
/** @typedef {{ draft: Draft, problems: Partial<Record<keyof Draft, string>>, onChange: (change: Partial<Draft>) => void }} Part */

const kinds = /** @type {const} */ ([
  ["cron", "By a crontab"],
  ["every", "At intervals"],
  ["at", "Once"],
]);
const targets = /** @type {const} */ ([
  ["isolated", "Ask in a session of its own"],
  ["main", "Leave a line in the main session"],
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
  const title = job ? `Edit “${job.name}”` : "New job";
  return html`<${Dialog} label=${title} onClose=${onClose}>
    <form class="job-form" onSubmit=${submit} novalidate>
      <h2>${title}</h2>
      ${found && isChanged && html`<p class="muted small line">Continued from before. <${Button} kind="slim" onClick=${startOver}>Start over<//></p>`}
      <${TextField} ...${part} name="name" label="Name" isFirst=${true} />
      <${When} ...${part} />
      <${What} ...${part} />
      ${draft.target === "isolated" && html`<${Where} ...${part} />`}
      ${error && html`<p class="notice bad" role="alert">${error}</p>`}
      <div class="actions">
        <${Button} onClick=${onClose}>Cancel<//>
        <${Button} type="submit" kind="primary" blocked=${isOnline.value ? undefined : "Not connected to the gateway"}>${isBusy ? "Saving…" : job ? "Save" : "Create"}<//>
      </div>
    </form>
  <//>`;
}

/** @param {Draft} draft @param {Job | undefined} job @returns {Promise<string>} what was done */
async function save(draft, job) {
  const name = draft.name.trim();
  if (!job) {
    await addJob(paramsOf(draft));
    return `“${name}” was created.`;
  }
  const patch = patchOf(draft, job);
  if (!patch) return "Nothing was changed.";
  await updateJob(job.id, patch);
  return `“${name}” was saved.`;
}

/** @param {Part} props */
function When({ draft, problems, onChange }) {
  const { kind, unit } = draft;
  const part = { draft, problems, onChange };
  const isSound = Object.keys(problemsOf(draft)).every((name) => !["expr", "every", "at"].includes(name));
  return html`<fieldset>
    <legend class="label">When</legend>
    <${Choice} label="When" of=${kinds} value=${kind} onChoose=${(/** @type {Draft["kind"]} */ next) => onChange({ kind: next })} />
    ${
      kind === "cron" &&
      html`<div class="pair"><${TextField} ...${part} name="expr" label="Crontab" hint="minute hour day month weekday" isMono=${true} />
        <${TextField} ...${part} name="tz" label="Time zone" hint="the gateway's" /></div>`
    }
    ${
      kind === "every" &&
      html`<div class="pair"><${TextField} ...${part} name="every" label="Every" type="number" />
        <label><span class="label">Unit</span><select class="field" value=${unit} onChange=${(/** @type {any} */ e) => onChange({ unit: e.currentTarget.value })}>${Object.keys(
          units,
        ).map((name) => html`<option key=${name} value=${name} selected=${name === unit}>${name}</option>`)}</select></label></div>`
    }
    ${kind === "at" && html`<${TextField} ...${part} name="at" label="Date and time" type="datetime-local" />`}
    ${isSound && html`<p class="muted small">Runs ${whenWords(paramsOf(draft).schedule)}.</p>`}
    ${kind === "at" && html`<${Check} label="Delete the job once it has succeeded" isOn=${draft.isOnce} onChange=${(/** @type {boolean} */ isOnce) => onChange({ isOnce })} />`}
  </fieldset>`;
}

/** @param {Part} props */
function What({ draft, problems, onChange }) {
  const { target, text, agentId } = draft;
  const agents = /** @type {Array<{ agentId: string }>} */ (health.value?.agents ?? []);
  const isOwn = target === "isolated";
  return html`<fieldset>
    <legend class="label">What</legend>
    <${Choice} label="What" of=${targets} value=${target} onChoose=${(/** @type {Draft["target"]} */ next) => onChange({ target: next })} />
    <label><span class="label">${isOwn ? "Message for the agent" : "Line for the agent"}</span>
      <textarea class="field" rows="4" maxlength="32768" aria-invalid=${problems.text ? "true" : undefined} value=${text}
        onInput=${(/** @type {any} */ e) => onChange({ text: e.currentTarget.value })}></textarea></label>
    <${Problem} text=${problems.text} />
    ${
      !isOwn &&
      html`<${Check} label="It reads the line at once, not only with its next heartbeat" isOn=${draft.wakeMode === "now"}
      onChange=${(/** @type {boolean} */ isNow) => onChange({ wakeMode: isNow ? "now" : "next-heartbeat" })} />`
    }
    ${
      (agents.length > 1 || agentId !== "") &&
      html`<label><span class="label">Agent</span><select class="field" value=${agentId} onChange=${(/** @type {any} */ e) => onChange({ agentId: e.currentTarget.value })}>
        <option value="">The default agent</option>
        ${agents.map(({ agentId: id }) => html`<option key=${id} value=${id} selected=${id === agentId}>${id}</option>`)}</select></label>`
    }
    ${isOwn && html`<${TextField} draft=${draft} problems=${problems} onChange=${onChange} name="model" label="Model" hint="the agent's own" />`}
  </fieldset>`;
}

/** @param {Part} part */
function Where(part) {
  const { draft, onChange } = part;
  return html`<fieldset>
    <legend class="label">The answer</legend>
    <${Check} label="Tell it on a channel" isOn=${draft.announce} onChange=${(/** @type {boolean} */ announce) => onChange({ announce })} />
    ${
      draft.announce &&
      html`<div class="pair"><${TextField} ...${part} name="channel" label="Channel" hint="where you wrote last" />
        <${TextField} ...${part} name="to" label="Recipient" /></div>`
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
