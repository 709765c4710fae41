import { useEffect, useMemo } from "preact/hooks";
import { columnOf, followFigures, points } from "../core/figures.js";
import { charts, fromZero, SHOWN_MS, sentenceOf } from "../core/figures-facts.js";
import { clock } from "../core/format.js";
import { html } from "../core/html.js";
import { texts } from "../texts/charts.js";
import { Chart } from "../ui/chart.js";

/** @typedef {import("../core/figures-facts.js").ChartFacts} ChartFacts */

/** Charts of the overview: what the gateway did in the last half hour, as far as this page has seen it. */
export default function Charts() {
  useEffect(followFigures, []);
  return html`<section class="panel" aria-labelledby="charts">
    <header><h2 id="charts">${texts.lastMinutes}</h2><span class="muted small">${texts.whilePageSeen}</span></header>
    <div class="inside charts">${charts.map((facts) => html`<${Figure} key=${facts.figure} facts=${facts} />`)}</div>
  </section>`;
}

/** @param {{ facts: ChartFacts }} props */
function Figure({ facts }) {
  const column = columnOf(facts.figure);
  const plotted = useMemo(() => {
    const to = (column.times.at(-1) ?? Date.now()) / 1_000;
    return {
      xs: column.times.map((at) => at / 1_000),
      ys: inUnit(facts.figure, column.values),
      from: to - SHOWN_MS / 1_000,
      to,
      most: fromZero,
    };
  }, [points.value]);
  return html`<${Chart} title=${facts.title} sentence=${sentenceOf(facts, column)} plotted=${plotted}
    say=${(/** @type {number} */ value) => facts.say(facts.figure === "rss" ? value * 1e6 : value)}
    sayX=${(/** @type {number} */ seconds) => clock(seconds * 1_000)} />`;
}

/** Bytes are drawn as megabytes: an axis with round numbers. @param {string} figure @param {Array<number | null>} values */
function inUnit(figure, values) {
  return figure === "rss" ? values.map((value) => (value === null ? null : value / 1e6)) : values;
}
