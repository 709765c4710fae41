import { useMemo } from "preact/hooks";
import { createExplained } from "../../core/explain.js";
import { placeOf, sentenceOf, tookWords, triggerWords, usageRows, withWaits } from "../../core/explain-facts.js";
import { count, moment, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress, formatRoute, replace, route } from "../../core/router.js";
import { titleOfKey } from "../../core/sessions.js";
import { useLive } from "../../ui/live.js";
import { LongText } from "../../ui/long-text.js";
import { Head, Standing } from "../../ui/reading.js";
import { SourceChip } from "../../ui/sources.js";
import { Notice } from "../../ui/states.js";
import { Fold, Section, textOf } from "./parts.js";
import { Prompt } from "./prompt.js";
import { Replay } from "./replay.js";

/** @typedef {import("../../core/explain-facts.js").Explained} Explained */

/** Page of one run: what the model was sent, what it looked at and called, what each request came to, and what another model makes of it. */
export default function ExplainPage() {
  const { rest: runId, params } = route.value;
  const turn = params.t === undefined ? undefined : Number(params.t) || undefined;
  const reading = useMemo(() => createExplained(runId), [runId]);
  const read = () => reading.read(turn);
  useLive(read, {}, [runId, turn]);
  const run = reading.answer.value;
  /** @param {number} chosen */
  const showTurn = (chosen) => replace(formatRoute("explain", runId, { t: String(chosen), m: params.m }));
  return html`<div class="page lists explain">
    <${Head} title="Why did it say that" sentence=${run && sentenceOf(run)} readAt=${reading.readAt.value}>
      ${run && html`<a class="button slim" href=${chatAddress(run.sessionKey, params.m)}>Back to the conversation</a>`}
    <//>
    <${Unexplained} reading=${reading} onRetry=${read} />
    ${
      run &&
      html`${run.status === "error" && html`<${Notice} level="bad"><p><strong>The run failed.</strong> ${run.error ?? run.stopReason}${run.code ? ` (${run.code})` : ""}</p><//>`}
      <${Said} run=${run} />
      <${Sources} run=${run} />
      <${Tools} tools=${run.tools} />
      ${run.prompt && html`<${Prompt} key=${run.prompt.turn} prompt=${run.prompt} attempts=${run.attempts} onTurn=${showTurn} />`}
      <${Attempts} run=${run} />
      <${Cost} run=${run} />
      <${Remarks} run=${run} />
      <${Replay} key=${runId} run=${run} />`
    }
  </div>`;
}

/** A run of which nothing is kept is no fault; the gateway says why. @param {{ reading: ReturnType<typeof createExplained>, onRetry: () => void }} props */
function Unexplained({ reading, onRetry }) {
  const failure = /** @type {any} */ (reading.failure.value);
  const isMissing = failure && [failure.detailCode, failure.details?.code].includes("TRACE_MISSING");
  if (isMissing) return html`<${Notice}><p>${failure.message}</p><p><a href="#/sessions">All sessions</a></p><//>`;
  return html`<${Standing} reading=${reading} onRetry=${onRetry} what="steps of this answer" plugin="agents" rows=${8} />`;
}

/** @param {{ run: Explained }} props */
function Said({ run }) {
  const trigger = triggerWords(run.trigger);
  return html`<div class="side-by-side">
    <${Section} id="asked" title="Asked" note=${`${trigger ? `${trigger}, ` : ""}${moment(run.startedAt)}`}>
      <${LongText} text=${run.asked || "(no text)"} label="Question" />
      <p class="muted small wrap">Agent ${run.agentId}, ${titleOfKey(run.sessionKey)}${run.joined ? `; together with ${plural(run.joined.length, "other message")}` : ""}</p>
    <//>
    <${Section} id="answered" title="Answered" note=${run.model}><${LongText} text=${run.answer || "(no text)"} label="Answer" /><//>
  </div>`;
}

/** @param {{ run: Explained }} props */
function Sources({ run: { sources, agentId } }) {
  if (sources.length === 0)
    return html`<${Section} id="sources" title="Sources"><p class="muted">No memory was searched, or nothing was found.</p><//>`;
  return html`<${Section} id="sources" title="Sources" note=${plural(sources.length, "place")}>
    <ul class="scored">${sources.map(
      (source, i) => html`<li key=${i}>
        <${SourceChip} place=${placeOf(source)} agentId=${agentId} />
        ${source.score === undefined ? null : html`<span class="line"><meter min="0" max="1" value=${source.score} aria-label="Score"></meter><span>${source.score.toFixed(2)}</span></span>`}
        <span class="muted small">${source.tool}</span>
      </li>`,
    )}</ul>
  <//>`;
}

/** @param {{ tools: import("../../core/explain-facts.js").ToolUse[] }} props */
function Tools({ tools }) {
  if (tools.length === 0) return null;
  return html`<${Section} id="tools" title="Tools" note=${plural(tools.length, "call")}>${tools.map(
    ({
      id,
      name,
      turn,
      ms,
      waitedMs,
      isError,
      arguments: args,
      result,
    }) => html`<${Fold} key=${id} title=${html`<code>${name}</code>`} isBad=${isError}
      facts=${[isError ? "failed" : "done", turn !== undefined && `turn ${turn}`, ms !== undefined && tookWords(ms), waitedMs !== undefined && waitedMs >= 1_000 && `${tookWords(waitedMs)} of it waiting`]}
      draw=${() => html`<p class="muted small">Arguments</p><${LongText} text=${textOf(args)} label=${`Arguments of ${name}`} />
        <p class="muted small">${isError ? "Error" : "Result"}</p>${result === undefined ? html`<p class="muted">It is no longer stored.</p>` : html`<${LongText} text=${result} label=${`Result of ${name}`} />`}`} />`,
  )}<//>`;
}

/** @param {{ run: Explained }} props */
function Attempts({ run }) {
  if (run.attempts.length === 0) return null;
  return html`<section class="panel" aria-labelledby="attempts">
    <header><h2 id="attempts">Requests to models</h2><span class="muted small">${plural(run.attempts.length, "request")}</span></header>
    <div class="scrolls" tabindex="0" role="group" aria-label="Requests to models, as a table">
      <table class="figures"><thead><tr><th scope="col">Model</th><th scope="col">Turn</th><th scope="col">Waited</th><th scope="col">Took</th><th scope="col">Messages</th><th scope="col">Tokens</th></tr></thead>
        <tbody>${withWaits(run.attempts, run.tools).map(
          (attempt, i) => html`<tr key=${i}>
            <th scope="row"><span class="wrap">${attempt.provider}/${attempt.model}</span><p class=${`small wrap ${attempt.fault ? "bad-text" : "muted"}`}>${attempt.outcome}</p></th>
            <td>${attempt.turn}</td><td>${tookWords(attempt.waitedMs)}</td><td>${tookWords(attempt.ms)}</td><td>${attempt.messages}</td><td>${attempt.usage ? count(attempt.usage.total) : ""}</td>
          </tr>`,
        )}</tbody></table>
    </div>
  </section>`;
}

const asideWords = { summary: "A summary of older messages", notes: "Notes before a summary", question: "A question of a plugin" };

/** @param {{ run: Explained }} props */
function Cost({ run: { usage, asides } }) {
  return html`<${Section} id="cost" title="Tokens and cost">
    <dl class="facts-table">${usageRows(usage).map(([word, figure]) => html`<dt key=${`t${word}`}>${word}</dt><dd key=${word}>${figure}</dd>`)}</dl>
    ${asides.map(({ what, usage: own }, i) => html`<p key=${i} class="muted small">${asideWords[/** @type {keyof typeof asideWords} */ (what)] ?? what}: ${plural(own.total, "token")} beside.</p>`)}
  <//>`;
}

/** @param {{ run: Explained }} props */
function Remarks({ run: { remarks, notes } }) {
  if (remarks.length + notes.length === 0) return null;
  return html`<${Section} id="remarks" title="Remarks">
    ${remarks.map((text, i) => html`<${LongText} key=${i} text=${text} label="Remark of a plugin" />`)}
    ${notes.map((text, i) => html`<p key=${`n${i}`} class="muted small wrap">${text}</p>`)}
  <//>`;
}
