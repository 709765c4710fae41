import { useEffect, useState } from "preact/hooks";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress, formatRoute, replace, route } from "../../core/router.js";
import { isOnline } from "../../core/store.js";
import { usage } from "../../core/usage.js";
import { costWords, groupings, inOrder, nameWords, sentenceOf, spans, tokensOf, unpricedWords } from "../../core/usage-facts.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { Notice } from "../../ui/states.js";

/** @typedef {import("../../core/usage-facts.js").Usage} Usage */

/** Sums change with each run, and no event tells of them. */
const READ_EVERY_MS = 10_000;
const words = { day: "By day", agent: "By agent", model: "By model" };

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
    <${Head} title="Usage" sentence=${known && sentenceOf(known.summary)} readAt=${usage.readAt.value} />
    <div class="tools">
      <div class="choice" role="group" aria-label="Sums">${groupings.map(
        (name) =>
          html`<button key=${name} type="button" aria-pressed=${name === by} onClick=${() => show({ by: name })}>${words[name]}</button>`,
      )}</div>
      <div class="choice" role="group" aria-label="Time">${spans.map(
        (span) =>
          html`<button key=${span} type="button" aria-pressed=${span === days} onClick=${() => show({ days: span })}>${span} days</button>`,
      )}</div>
    </div>
    <${Standing} reading=${usage} onRetry=${read} what="usage figures" plugin="usage" rows=${6} />
    ${known && by === "day" && known.summary.by === "day" && known.summary.rows.length > 0 && html`<${LaterDays} summary=${known.summary} />`}
    ${known && html`<${Sums} summary=${known.summary} />`}
    ${known && known.sessions.length > 0 && html`<${Sessions} sessions=${known.sessions} />`}
  </div>`;
}

/** @type {any} */
let fetchedDays;

/** The chart of the days, fetched when it is first wanted; the table beneath says the same. @param {{ summary: Usage }} props */
function LaterDays({ summary }) {
  const [Days, setDays] = useState(() => fetchedDays);
  useEffect(() => {
    if (Days) return;
    import("./days.js").then(
      (module) => {
        fetchedDays = module.default;
        setDays(() => fetchedDays);
      },
      () => undefined, // without it the table is all there is
    );
  }, [isOnline.value]);
  return html`<section class="panel usage-chart">${Days && html`<${Days} summary=${summary} />`}</section>`;
}

/** @param {string} word */
function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** @param {{ summary: Usage }} props */
function Sums({ summary }) {
  const { by, rows, total } = summary;
  if (rows.length === 0) return html`<div class="empty"><h2>Nothing was used</h2><p>Each run that ends is added here.</p></div>`;
  const note = unpricedWords(total);
  const most = Math.max(...rows.map(tokensOf), 1);
  return html`${note && html`<${Notice}>${note}<//>`}
    <section class="panel scrolls" tabindex="0" role="region" aria-label="Sums">
      <table class="figures">
        <thead><tr><th scope="col">${capital(by)}</th><th scope="col">Runs</th><th scope="col">In</th><th scope="col">Out</th><th scope="col">Cache</th>
          <th scope="col">Cost</th></tr></thead>
        <tbody>${inOrder(summary).map(
          (row) => html`<tr key=${row.name}>
            <th scope="row"><span class="wrap">${nameWords(by, row.name)}</span>
              <progress max=${most} value=${tokensOf(row)} aria-label=${`Tokens of ${nameWords(by, row.name)}`}></progress></th>
            <td>${count(row.runs)}${row.errors > 0 && html` <span class="badge bad">${count(row.errors)} failed</span>`}
              ${row.replays > 0 && html` <span class="badge">${plural(row.replays, "replay")}</span>`}</td>
            <td>${count(row.input)}</td><td>${count(row.output)}</td><td>${count(row.cacheRead + row.cacheWrite)}</td><td>${costWords(row.costUsd)}</td>
          </tr>`,
        )}</tbody>
      </table>
    </section>`;
}

/** @param {{ sessions: import("../../core/usage-facts.js").SessionUsage[] }} props */
function Sessions({ sessions }) {
  return html`<section class="panel" aria-labelledby="usage-sessions">
    <header><h2 id="usage-sessions">Sessions used last</h2></header>
    <ul class="rows">${sessions.map(
      ({ key, title, input, output, context, costUsd }) => html`<li key=${key}><a class="row-line" href=${chatAddress(key)}>
        <span class="grow"><span class="cut title">${title ?? key}</span><span class="facts muted small"><span>${count(input)} in</span><span>${count(output)} out</span>
          <span>${count(context)} in the context</span></span></span>
        <span class="muted small">${costWords(costUsd)}</span>
      </a></li>`,
    )}</ul>
  </section>`;
}
