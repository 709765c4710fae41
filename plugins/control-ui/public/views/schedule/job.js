import { useEffect, useState } from "preact/hooks";
import { age, moment, plural, span } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress, go } from "../../core/router.js";
import { hasSession, removeJob, runJob, runsOf, updateJob } from "../../core/schedule.js";
import { factsOf, runState, sessionOf, stateOf, textOf, whenWords, workWords } from "../../core/schedule-facts.js";
import { defaultAgentId, isOnline, noAdminReason, now } from "../../core/store.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Open } from "../../ui/icons.js";
import { Failure, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/schedule-facts.js").Job} Job */
/** @typedef {import("../../core/schedule-facts.js").Run} Run */

/** One job; it opens to its text and its last runs. @param {{ job: Job, onEdit: (job: Job) => void, onChanged: () => unknown }} props */
export function JobRow({ job, onEdit, onChanged }) {
  const [isOpen, setOpen] = useState(false);
  const [busy, setBusy] = useState("");
  const [failed, setFailed] = useState("");
  const { id, name, enabled, schedule, state, nextRunAtMs } = job;
  const { word, level } = stateOf(job);
  const reason = failed || (state.lastStatus === "error" ? state.lastError : undefined);
  const blocked = noAdminReason.value;
  /** @param {string} what @param {() => Promise<string>} act returns what is to be said of its end */
  const run = async (what, act) => {
    if (busy) return;
    setBusy(what);
    setFailed("");
    try {
      announce(await act());
      await onChanged();
    } catch (error) {
      setFailed(/** @type {Error} */ (error).message);
    }
    setBusy("");
  };
  const runNow = () => run("run", async () => ((await runJob(id)) ? `“${name}” runs now.` : `“${name}” is running already.`));
  const toggle = () =>
    run("toggle", async () => {
      await updateJob(id, { enabled: !enabled });
      return enabled ? `“${name}” is off.` : `“${name}” is on.`;
    });
  return html`<li class="foldable job">
    <div class="row-line">
      <button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <${Open} />
        <span class="grow">
          <span class="top-line"><span class="cut title">${name}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
          <span class="wrap">${whenWords(schedule)}</span>
          <span class="facts muted small" title=${nextRunAtMs === undefined ? undefined : `Next run: ${moment(nextRunAtMs)}`}>${factsOf(
            job,
            now.value,
          ).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
        </span>
      </button>
      <span class="actions">
        <${Button} kind="slim" label=${`Run now: ${name}`} blocked=${blocked} onClick=${runNow}>${busy === "run" ? "Starting…" : "Run now"}<//>
        <${Button} kind="slim" label=${`${enabled ? "Disable" : "Enable"} ${name}`} blocked=${blocked} onClick=${toggle}>${enabled ? "Disable" : "Enable"}<//>
        <${Button} kind="slim" label=${`Edit ${name}`} blocked=${blocked} onClick=${() => onEdit(job)}>Edit<//>
        <${Button} kind="slim danger" label=${`Delete ${name}`} blocked=${blocked} onClick=${() => remove(job, onChanged)}>Delete<//>
      </span>
    </div>
    ${reason && html`<div class="notes small"><p class="reason bad wrap" role=${failed ? "alert" : undefined}>${reason}</p></div>`}
    ${isOpen && html`<${Detail} job=${job} />`}
  </li>`;
}

/** @param {{ job: Job }} props */
function Detail({ job }) {
  const { id, delivery, payload, origin, state } = job;
  const model = payload.kind === "agentTurn" ? payload.model : undefined;
  const facts = [
    ["Does", workWords(job)],
    ...(delivery?.channel || delivery?.to ? [["Tells it to", [delivery.channel, delivery.to].filter(Boolean).join(", ")]] : []),
    ...(model === undefined ? [] : [["Model", model]]),
    ...(origin === "person" ? [["Planned by", "an owner on a channel; it has no more rights than that conversation"]] : []),
    ["Id", id],
  ];
  return html`<div class="detail stack">
    <pre class="job-text" tabindex="0" aria-label="Text">${textOf(job)}</pre>
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
  if (!found && error) return html`<${Failure} what="The runs could not be read." error=${error} onRetry=${() => setTries(tries + 1)} />`;
  if (!found) return html`<${Waiting} rows=${2} label="Loading the runs" />`;
  if (found.entries.length === 0) return html`<p class="muted small">It has not run yet.</p>`;
  return html`<div class="stack tight">
    <h2>Last runs</h2>
    <ul class="runs small">${found.entries.map((run) => html`<${RunRow} key=${run.ts} job=${job} run=${run} />`)}</ul>
    ${found.total > found.entries.length && html`<p class="muted small">The newest ${found.entries.length} of ${plural(found.total, "run")}.</p>`}
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
    else announce("The session of this run is not there any more.");
  };
  return html`<li>
    <span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>
    <time title=${moment(run.runAtMs)}>${age(run.runAtMs, now.value)}</time><span class="muted">${span(run.durationMs)}</span>
    <span class="wrap said">${run.error ?? run.summary ?? ""}</span>
    ${session !== undefined && html`<${Button} kind="slim quiet" label=${`Open the session of ${moment(run.runAtMs)}`} onClick=${open}>Open<//>`}
  </li>`;
}

/** @param {Job} job @param {() => unknown} onChanged */
async function remove(job, onChanged) {
  const { id, name } = job;
  const runs = await runsOf(id).then(
    ({ total }) => `, ${plural(total, "stored run")}`,
    () => "",
  );
  ask({
    title: `Delete “${name}”${runs}?`,
    text: `${job.state.runningAtMs === undefined ? "" : "It is running now. "}Its text, its times and the log of its runs go. This cannot be undone.`,
    action: "Delete",
    isDanger: true,
    run: async () => {
      await removeJob(id);
      announce(`“${name}” was deleted.`);
      await onChanged();
    },
  });
}
