import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress, formatRoute, replace, route } from "../../core/router.js";
import { usage } from "../../core/usage.js";
import { costWords, groupings, inOrder, nameWords, sentenceOf, spans, tokensOf, unpricedWords } from "../../core/usage-facts.js";
import { texts } from "../../texts/usage.js";
import { Later } from "../../ui/later.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { Notice } from "../../ui/states.js";

/** @typedef {import("../../core/usage-facts.js").Usage} Usage */

/** Sums change with each run, and no event tells of them. */
const READ_EVERY_MS = 10_000;
/** The table beneath says the same. */
const chart = () => import("./days.js");
const words = { day: texts.day, agent: texts.agent, model: texts.model };

/** Page of the usage: tokens and cost by day, agent or model, and of the sessions used last. */
export default function UsagePage() {
  const { by: wanted, days: asked } = route.value.params;
  const by = groupings.find((name) => name === wanted) ?? "day";
  const days = spans.find((span) => String(span) === asked) ?? 30;
  const read = () => usage.read({ by, days });
  useLive(read, { everyMs: READ_EVERY_MS }, [by, days]);
  const known = usage.answer.value;
  /** @param {{ by?: string, days?: number }} change */
  const show = (change) => {
    const next = { by, days, ...change };
    replace(
      formatRoute("usage", "", { by: next.by === "day" ? undefined : next.by, days: next.days === 30 ? undefined : String(next.days) }),
    );
  };
  return html`<div class="page lists usage">
    <${Head} title=${texts.usage} sentence=${known && sentenceOf(known.summary)} readAt=${usage.readAt.value} />
    <div class="tools">
      <div class="choice" role="group" aria-label=${texts.sums}>${groupings.map(
        (name) =>
          html`<button key=${name} type="button" aria-pressed=${name === by} onClick=${() => show({ by: name })}>${words[name]}</button>`,
      )}</div>
      <div class="choice" role="group" aria-label=${texts.time}>${spans.map(
        (span) =>
          html`<button key=${span} type="button" aria-pressed=${span === days} onClick=${() => show({ days: span })}>${texts.spanDays(span)}</button>`,
      )}</div>
    </div>
    <${Standing} reading=${usage} onRetry=${read} what=${texts.usageFigures} plugin="usage" rows=${6} />
    ${known && by === "day" && known.summary.by === "day" && known.summary.rows.length > 0 && html`<section class="panel usage-chart"><${Later} load=${chart} summary=${known.summary} /></section>`}
    ${known && html`<${Sums} summary=${known.summary} />`}
    ${known && known.sessions.length > 0 && html`<${Sessions} sessions=${known.sessions} />`}
  </div>`;
}

/** @param {{ summary: Usage }} props */
function Sums({ summary }) {
  const { by, rows, total } = summary;
  if (rows.length === 0) return html`<div class="empty"><h2>${texts.nothingUsed}</h2><p>${texts.eachRunEnds}</p></div>`;
  const note = unpricedWords(total);
  const most = Math.max(...rows.map(tokensOf), 1);
  return html`${note && html`<${Notice}>${note}<//>`}
    <section class="panel scrolls" tabindex="0" role="region" aria-label=${texts.sums}>
      <table class="figures">
        <thead><tr><th scope="col">${texts.columns[by]}</th><th scope="col">${texts.runs}</th><th scope="col">${texts.in}</th><th scope="col">${texts.out}</th><th scope="col">${texts.cache}</th>
          <th scope="col">${texts.cost}</th></tr></thead>
        <tbody>${inOrder(summary).map(
          (row) => html`<tr key=${row.name}>
            <th scope="row"><span class="wrap">${nameWords(by, row.name)}</span>
              <progress max=${most} value=${tokensOf(row)} aria-label=${texts.tokensOf(nameWords(by, row.name))}></progress></th>
            <td>${count(row.runs)}${row.errors > 0 && html` <span class="badge bad">${texts.failed(count(row.errors))}</span>`}
              ${row.replays > 0 && html` <span class="badge">${plural(row.replays, texts.replays)}</span>`}</td>
            <td>${count(row.input)}</td><td>${count(row.output)}</td><td>${count(row.cacheRead + row.cacheWrite)}</td><td>${costWords(row.costUsd)}</td>
          </tr>`,
        )}</tbody>
      </table>
    </section>`;
}

/** @param {{ sessions: import("../../core/usage-facts.js").SessionUsage[] }} props */
function Sessions({ sessions }) {
  return html`<section class="panel" aria-labelledby="usage-sessions">
    <header><h2 id="usage-sessions">${texts.sessionsUsedLast}</h2></header>
    <ul class="rows">${sessions.map(
      ({ key, title, input, output, context, costUsd }) => html`<li key=${key}><a class="row-line" href=${chatAddress(key)}>
        <span class="grow"><span class="cut title" dir="auto">${title ?? key}</span><span class="facts muted small"><span>${texts.tokensIn(count(input))}</span><span>${texts.tokensOut(count(output))}</span>
          <span>${texts.context(count(context))}</span></span></span>
        <span class="muted small">${costWords(costUsd)}</span>
      </a></li>`,
    )}</ul>
  </section>`;
}
