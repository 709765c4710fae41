import { useMemo } from "preact/hooks";
import { createExplained } from "../../core/explain.js";
import { placeOf, sentenceOf, tookWords, triggerWords, usageRows, withWaits } from "../../core/explain-facts.js";
import { count, decimal, moment, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress, formatRoute, replace, route } from "../../core/router.js";
import { titleOfKey } from "../../core/sessions.js";
import { Panels } from "../../core/store.js";
import { texts } from "../../texts/explain.js";
import { useLive } from "../../ui/live.js";
import { LongText } from "../../ui/long-text.js";
import { Head, Standing } from "../../ui/reading.js";
import { SourceChip } from "../../ui/sources.js";
import { Later, Notice } from "../../ui/states.js";
import { Fold, Section, textOf } from "./parts.js";
import { Prompt } from "./prompt.js";

/** @typedef {import("../../core/explain-facts.js").Explained} Explained */

const replay = () => import("./replay.js").then(({ Replay }) => ({ default: Replay }));

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
    <${Head} title=${texts.whyDidSay} sentence=${run && sentenceOf(run)} readAt=${reading.readAt.value}>
      ${run && html`<a class="button slim" href=${chatAddress(run.sessionKey, params.m)}>${texts.backConversation}</a>`}
    <//>
    <${Unexplained} reading=${reading} onRetry=${read} />
    ${
      run &&
      html`${run.status === "error" && html`<${Notice} level="bad"><p><strong>${texts.runFailed}</strong> ${run.error ?? run.stopReason}${run.code ? ` (${run.code})` : ""}</p><//>`}
      <${Said} run=${run} />
      <${Sources} run=${run} />
      <${Tools} tools=${run.tools} />
      ${run.prompt && html`<${Prompt} key=${run.prompt.turn} prompt=${run.prompt} attempts=${run.attempts} onTurn=${showTurn} />`}
      <${Attempts} run=${run} />
      <${Cost} run=${run} />
      <${Remarks} run=${run} />
      ${Panels.value && html`<${Panels.value} at="run" subject=${{ runId, sessionKey: run.sessionKey }} />`}
      <${Later} load=${replay} key=${runId} run=${run} />`
    }
  </div>`;
}

/** A run of which nothing is kept is no fault; the gateway says why. @param {{ reading: ReturnType<typeof createExplained>, onRetry: () => void }} props */
function Unexplained({ reading, onRetry }) {
  const failure = /** @type {any} */ (reading.failure.value);
  const isMissing = failure && [failure.detailCode, failure.details?.code].includes("TRACE_MISSING");
  if (isMissing) return html`<${Notice}><p>${failure.message}</p><p><a href="#/sessions">${texts.allSessions}</a></p><//>`;
  return html`<${Standing} reading=${reading} onRetry=${onRetry} what=${texts.stepsAnswer} plugin="agents" rows=${8} />`;
}

/** @param {{ run: Explained }} props */
function Said({ run }) {
  const trigger = triggerWords(run.trigger);
  return html`<div class="side-by-side">
    <${Section} id="asked" title=${texts.asked} note=${`${trigger ? `${trigger}, ` : ""}${moment(run.startedAt)}`}>
      <${LongText} text=${run.asked || texts.noText} label=${texts.question} />
      <p class="muted small wrap">${texts.agent({ agentId: run.agentId, titleOfKey: titleOfKey(run.sessionKey), more: run.joined ? texts.together(plural(run.joined.length, texts.otherMessages)) : "" })}</p>
    <//>
    <${Section} id="answered" title=${texts.answeredLabel} note=${run.model}><${LongText} text=${run.answer || texts.noText} label=${texts.answer} /><//>
  </div>`;
}

/** @param {{ run: Explained }} props */
function Sources({ run: { sources, agentId } }) {
  if (sources.length === 0) return html`<${Section} id="sources" title=${texts.sources}><p class="muted">${texts.noMemorySearched}</p><//>`;
  return html`<${Section} id="sources" title=${texts.sources} note=${plural(sources.length, texts.places)}>
    <ul class="scored">${sources.map(
      (source, i) => html`<li key=${i}>
        <${SourceChip} place=${placeOf(source)} agentId=${agentId} />
        ${source.score === undefined ? null : html`<span class="line"><meter min="0" max="1" value=${source.score} aria-label=${texts.score}></meter><span>${decimal(source.score, 2, 2)}</span></span>`}
        <span class="muted small">${source.tool}</span>
      </li>`,
    )}</ul>
  <//>`;
}

/** @param {{ tools: import("../../core/explain-facts.js").ToolUse[] }} props */
function Tools({ tools }) {
  if (tools.length === 0) return null;
  return html`<${Section} id="tools" title=${texts.tools} note=${plural(tools.length, texts.calls)}>${tools.map(
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
      facts=${[isError ? texts.callFailed : texts.done, turn !== undefined && texts.inTurn(turn), ms !== undefined && tookWords(ms), waitedMs !== undefined && waitedMs >= 1_000 && texts.waiting(tookWords(waitedMs))]}
      draw=${() => html`<p class="muted small">${texts.arguments}</p><${LongText} text=${textOf(args)} label=${texts.argumentsOf(name)} />
        <p class="muted small">${isError ? texts.error : texts.result}</p>${result === undefined ? html`<p class="muted">${texts.noLongerStored}</p>` : html`<${LongText} text=${result} label=${texts.resultOf(name)} />`}`} />`,
  )}<//>`;
}

/** @param {{ run: Explained }} props */
function Attempts({ run }) {
  if (run.attempts.length === 0) return null;
  return html`<section class="panel" aria-labelledby="attempts">
    <header><h2 id="attempts">${texts.requestsModels}</h2><span class="muted small">${plural(run.attempts.length, texts.requests)}</span></header>
    <div class="scrolls" tabindex="0" role="group" aria-label=${texts.requestsModelsTable}>
      <table class="figures"><thead><tr><th scope="col">${texts.model}</th><th scope="col">${texts.turn}</th><th scope="col">${texts.waited}</th><th scope="col">${texts.took}</th><th scope="col">${texts.messages}</th><th scope="col">${texts.tokensLabel}</th></tr></thead>
        <tbody>${withWaits(run.attempts, run.tools).map(
          (attempt, i) => html`<tr key=${i}>
            <th scope="row"><span class="wrap">${attempt.provider}/${attempt.model}</span><p class=${`small wrap ${attempt.fault ? "bad-text" : "muted"}`}>${attempt.outcome}</p></th>
            <td>${attempt.turn}</td><td>${tookWords(attempt.waitedMs)}</td><td>${tookWords(attempt.ms)}</td><td>${attempt.messages}</td><td>${attempt.usage ? count(attempt.usage.total) : ""}</td>
          </tr>`,
        )}</tbody></table>
    </div>
  </section>`;
}

const asideWords = { summary: texts.summaryOlderMessages, notes: texts.notesBeforeSummary, question: texts.questionPlugin };

/** @param {{ run: Explained }} props */
function Cost({ run: { usage, asides } }) {
  return html`<${Section} id="cost" title=${texts.tokensCost}>
    <dl class="facts-table">${usageRows(usage).map(([word, figure]) => html`<dt key=${`t${word}`}>${word}</dt><dd key=${word}>${figure}</dd>`)}</dl>
    ${asides.map(({ what, usage: own }, i) => html`<p key=${i} class="muted small">${texts.beside({ what: asideWords[/** @type {keyof typeof asideWords} */ (what)] ?? what, total: plural(own.total, texts.tokens) })}</p>`)}
  <//>`;
}

/** @param {{ run: Explained }} props */
function Remarks({ run: { remarks, notes } }) {
  if (remarks.length + notes.length === 0) return null;
  return html`<${Section} id="remarks" title=${texts.remarks}>
    ${remarks.map((text, i) => html`<${LongText} key=${i} text=${text} label=${texts.remarkPlugin} />`)}
    ${notes.map((text, i) => html`<p key=${`n${i}`} class="muted small wrap">${text}</p>`)}
  <//>`;
}
