import { useCallback, useRef, useState } from "preact/hooks";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { jobs, PAGE } from "../../core/schedule.js";
import { sentenceOf } from "../../core/schedule-facts.js";
import { isOnline, noAdminReason, now } from "../../core/store.js";
import { texts } from "../../texts/schedule.js";
import { announce } from "../../ui/announce.js";
import { Button, Command } from "../../ui/button.js";
import { Plus, Search } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";
import { PageList } from "../../ui/list.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { Notice } from "../../ui/states.js";
import { JobRow } from "./job.js";

/** @typedef {import("../../core/schedule-facts.js").Job} Job */

const heartbeats = () => import("./heartbeats.js");

/** Height of a row that was not drawn yet. */
const ROW_PX = 82;

/** Page of the schedule: jobs with their last and next runs, and the heartbeats of agents. */
export default function SchedulePage() {
  const { q = "", n } = route.value.params;
  const limit = Number(n) > PAGE ? Number(n) : PAGE;
  const [form, setForm] = useState(
    /** @type {{ Form: typeof import("./form.js").JobForm, job?: Job | undefined } | undefined} */ (undefined),
  );
  const read = () => jobs.read({ q, limit });
  useLive(read, { events: ["cron"] }, [q, limit]);
  const known = jobs.answer.value;
  /** @param {{ q?: string, n?: number }} change */
  const show = (change) => {
    const next = { q, n: limit, ...change };
    replace(formatRoute("schedule", "", { q: next.q || undefined, n: next.n > PAGE ? String(next.n) : undefined }));
  };
  /** Opens the form, which is fetched when it is first needed. @param {Job} [job] without one a new job is made */
  const open = async (job) => {
    const module = await import("./form.js").catch(() => undefined);
    if (module) setForm({ Form: module.JobForm, job });
    else announce(texts.formCouldNot);
  };
  const create = () => open();
  return html`<div class="page lists schedule">
    <${Head} title=${texts.schedule} sentence=${known && sentenceOf(known.status, now.value)} readAt=${jobs.readAt.value}>
      <${Button} kind="primary" icon=${Plus} blocked=${noAdminReason.value} onClick=${create}>${texts.newJob}<//>
    <//>
    ${known?.status.broken && html`<${Broken} ids=${known.status.broken} />`}
    ${
      (known?.status.jobs || q !== "") &&
      html`<div class="tools"><div class="search grow"><${Search} /><input type="search" class="field" placeholder=${texts.nameText} aria-label=${texts.searchJobs}
        maxlength="200" value=${q} onInput=${(/** @type {any} */ e) => show({ q: e.currentTarget.value, n: PAGE })} /></div></div>`
    }
    <${Standing} reading=${jobs} onRetry=${read} what=${texts.whatJobs} plugin="cron" rows=${6} />
    ${known && known.rows.length > 0 && html`<${Found} known=${known} limit=${limit} onShow=${show} onEdit=${open} onChanged=${read} />`}
    ${known && known.rows.length === 0 && html`<${Nothing} q=${q} onCreate=${create} />`}
    <${Later} load=${heartbeats} />
    ${form && html`<${form.Form} job=${form.job} onDone=${read} onClose=${() => setForm(undefined)} />`}
  </div>`;
}

/**
 * @param {{ known: { rows: Job[], total: number }, limit: number, onShow: (change: { n: number }) => void, onEdit: (job: Job) => void,
 *   onChanged: () => unknown }} props
 */
function Found({ known: { rows, total }, limit, onShow, onEdit, onChanged }) {
  const acts = useRef({ onEdit, onChanged });
  acts.current = { onEdit, onChanged };
  const draw = useCallback((/** @type {Job} */ job) => html`<${JobRow} job=${job} acts=${acts} />`, []);
  return html`<section class="panel" aria-labelledby="jobs">
      <header><h2 id="jobs">${texts.jobsLabel}</h2></header>
      <${PageList} rows=${rows} rowHeight=${ROW_PX} draw=${draw} />
    </section>
    <div class="foot">
      <span class="muted small">${texts.someOf({ rows: count(rows.length), total: count(total) })}</span>
      ${
        rows.length < total &&
        html`<${Button} blocked=${isOnline.value ? undefined : texts.notConnected} onClick=${() => onShow({ n: limit + PAGE })}>${texts.showMore}<//>`
      }
    </div>`;
}

/** @param {{ q: string, onCreate: () => void }} props */
function Nothing({ q, onCreate }) {
  if (q !== "") return html`<div class="empty"><h2>${texts.noJobMatches(q)}</h2><p>${texts.searchCoversNames}</p></div>`;
  return html`<div class="empty"><h2>${texts.noJobsYet}</h2><p>${texts.jobAsksAgent}</p>
    <${Button} kind="primary" icon=${Plus} blocked=${noAdminReason.value} onClick=${onCreate}>${texts.newJob}<//></div>`;
}

/** @param {{ ids: string[] }} props */
function Broken({ ids }) {
  return html`<${Notice} level="warn"><p>${plural(ids.length, texts.unreadableJobs)}</p>
    <${Command} command=${`svc cron rm ${ids[0]}`} /><//>`;
}
