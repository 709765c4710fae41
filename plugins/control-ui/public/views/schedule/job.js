import { computed } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { age, list, moment, plural, span } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress, go } from "../../core/router.js";
import { hasSession, removeJob, runJob, runsOf, updateJob } from "../../core/schedule.js";
import { factsOf, runState, sessionOf, stateOf, textOf, whenWords, workWords } from "../../core/schedule-facts.js";
import { defaultAgentId, isOnline, noAdminReason, now } from "../../core/store.js";
import { texts } from "../../texts/schedule.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Open } from "../../ui/icons.js";
import { Failure, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/schedule-facts.js").Job} Job */
/** @typedef {import("../../core/schedule-facts.js").Run} Run */

/**
 * One job; it opens to its text and its last runs.
 * @param {{ job: Job, acts: { current: { onEdit: (job: Job) => void, onChanged: () => unknown } } }} props
 */
export function JobRow({ job, acts }) {
  const { id, name, enabled, schedule, state, nextRunAtMs } = job;
  const { word, level } = stateOf(job);
  const [{ isOpen, busy, failed }, change] = useRowState(id);
  const reason = failed || (state.lastStatus === "error" ? state.lastError : undefined);
  const blocked = noAdminReason.value;
  // Drawn again when one of them changes, not each second.
  const facts = useMemo(() => computed(() => factsOf(job, now.value).join("\n")), [job]);
  /** @param {string} what @param {() => Promise<string>} act returns what is to be said of its end */
  const run = async (what, act) => {
    if (busy) return;
    change({ busy: what, failed: "" });
    try {
      announce(await act());
      await acts.current.onChanged();
    } catch (error) {
      change({ failed: /** @type {Error} */ (error).message });
    }
    change({ busy: "" });
  };
  const runNow = () => run("run", async () => ((await runJob(id)) ? texts.runsNow(name) : texts.runningAlready(name)));
  const toggle = () =>
    run("toggle", async () => {
      await updateJob(id, { enabled: !enabled });
      return enabled ? texts.nowOff(name) : texts.nowOn(name);
    });
  return html`<li class="foldable job">
    <div class="row-line">
      <button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => change({ isOpen: !isOpen })}>
        <${Open} />
        <span class="grow">
          <span class="top-line"><span class="cut title" dir="auto">${name}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
          <span class="wrap">${whenWords(schedule)}</span>
          <span class="facts muted small" title=${nextRunAtMs === undefined ? undefined : texts.nextRun(moment(nextRunAtMs))}>${facts.value
            .split("\n")
            .map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
        </span>
      </button>
      <span class="actions">
        <${Button} kind="slim" label=${texts.runNow(name)} blocked=${blocked} onClick=${runNow}>${busy === "run" ? texts.starting : texts.runNowLabel}<//>
        <${Button} kind="slim" label=${`${enabled ? texts.disable : texts.enable} ${name}`} blocked=${blocked} onClick=${toggle}>${enabled ? texts.disable : texts.enable}<//>
        <${Button} kind="slim" label=${texts.editOf(name)} blocked=${blocked} onClick=${() => acts.current.onEdit(job)}>${texts.editLabel}<//>
        <${Button} kind="slim danger" label=${texts.deleteOf(name)} blocked=${blocked} onClick=${() => remove(job, acts.current.onChanged)}>${texts.delete}<//>
      </span>
    </div>
    ${reason && html`<div class="notes small"><p class="reason bad wrap" role=${failed ? "alert" : undefined}>${reason}</p></div>`}
    ${isOpen && html`<${Detail} key=${id} job=${job} />`}
  </li>`;
}

const closed = { isOpen: false, busy: "", failed: "" };

/** State that a row keeps of its job; another job that takes its elements finds it closed. @param {string} id */
function useRowState(id) {
  const [kept, keep] = useState({ id, ...closed });
  const shown = useRef(id);
  shown.current = id;
  /** Without effect once the row shows another job. @param {Partial<typeof closed>} part */
  const change = (part) => {
    if (shown.current === id) keep((before) => ({ ...(before.id === id ? before : closed), id, ...part }));
  };
  return /** @type {const} */ ([kept.id === id ? kept : closed, change]);
}

/** @param {{ job: Job }} props */
function Detail({ job }) {
  const { id, delivery, payload, origin, state } = job;
  const model = payload.kind === "agentTurn" ? payload.model : undefined;
  const facts = [
    [texts.does, workWords(job)],
    ...(delivery?.channel || delivery?.to ? [[texts.tellsItTo, list([delivery.channel, delivery.to].flatMap((part) => part ?? []))]] : []),
    ...(model === undefined ? [] : [[texts.model, model]]),
    ...(origin === "person" ? [[texts.planned, texts.ownerChannelNo]] : []),
    [texts.id, id],
  ];
  return html`<div class="detail stack">
    <pre class="job-text" tabindex="0" aria-label=${texts.text}>${textOf(job)}</pre>
    <dl class="facts-table small">${facts.map(([name, text]) => html`<dt key=${name} class="muted">${name}</dt><dd>${text}</dd>`)}</dl>
    <${Runs} job=${job} turn=${`${state.lastRunAtMs} ${state.runningAtMs}`} />
  </div>`;
}

/** Last runs, read again after each one. @param {{ job: Job, turn: string }} props */
function Runs({ job, turn }) {
  const { id } = job;
  const [found, setFound] = useState(/** @type {{ entries: Run[], total: number } | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    runsOf(id).then(
      (answer) => isWanted && (setFound(answer), setError(undefined)),
      (failure) => isWanted && setError(failure),
    );
    return () => {
      isWanted = false;
    };
  }, [id, turn, tries, isOnline.value]);
  if (!found && error) return html`<${Failure} what=${texts.runsCouldNot} error=${error} onRetry=${() => setTries(tries + 1)} />`;
  if (!found) return html`<${Waiting} rows=${2} label=${texts.loadingRuns} />`;
  if (found.entries.length === 0) return html`<p class="muted small">${texts.notRunYet}</p>`;
  return html`<div class="stack tight">
    <h2>${texts.lastRuns}</h2>
    <ul class="runs small">${found.entries.map((run) => html`<${RunRow} key=${run.ts} job=${job} run=${run} />`)}</ul>
    ${found.total > found.entries.length && html`<p class="muted small">${texts.newest({ entries: found.entries.length, total: plural(found.total, texts.runsWord) })}</p>`}
  </div>`;
}

/** @param {{ job: Job, run: Run }} props */
function RunRow({ job, run }) {
  const { word, level } = runState(run);
  const session = sessionOf(job, run, defaultAgentId.value);
  const open = async () => {
    if (session === undefined) return;
    const isThere = await hasSession(session).catch(() => false);
    if (isThere) go(chatAddress(session));
    else announce(texts.sessionRunNot);
  };
  return html`<li>
    <span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>
    <time title=${moment(run.runAtMs)}>${age(run.runAtMs, now.value)}</time><span class="muted">${span(run.durationMs)}</span>
    <span class="wrap said">${run.error ?? run.summary ?? ""}</span>
    ${session !== undefined && html`<${Button} kind="slim quiet" label=${texts.openSession(moment(run.runAtMs))} onClick=${open}>${texts.open}<//>`}
  </li>`;
}

/** @param {Job} job @param {() => unknown} onChanged */
async function remove(job, onChanged) {
  const { id, name } = job;
  const runs = await runsOf(id).then(
    ({ total }) => `, ${plural(total, texts.storedRuns)}`,
    () => "",
  );
  ask({
    title: texts.deleteQuestion({ name, runs }),
    text: texts.textTimesLog(job.state.runningAtMs === undefined ? "" : texts.runningNow),
    action: texts.delete,
    isDanger: true,
    run: async () => {
      await removeJob(id);
      announce(texts.deleted(name));
      await onChanged();
    },
  });
}
