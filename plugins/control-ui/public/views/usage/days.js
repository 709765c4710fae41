import { useMemo } from "preact/hooks";
import { fromZero } from "../../core/figures-facts.js";
import { plural, shortDay } from "../../core/format.js";
import { html } from "../../core/html.js";
import { daysSentence, tokensByDay } from "../../core/usage-facts.js";
import { texts } from "../../texts/usage.js";
import { Chart } from "../../ui/chart.js";

const HALF_DAY_S = 43_200;

/** Tokens of each day as bars. @param {{ summary: import("../../core/usage-facts.js").Usage }} props */
export default function Days({ summary }) {
  const known = useMemo(() => tokensByDay(summary), [summary]);
  const plotted = useMemo(() => {
    const xs = known.days.map((at) => at / 1_000);
    return { xs, ys: known.tokens, from: (xs[0] ?? 0) - HALF_DAY_S, to: (xs.at(-1) ?? 1) + HALF_DAY_S, most: fromZero };
  }, [known]);
  return html`<${Chart} title=${texts.tokensDay} sentence=${daysSentence(known, shortDay)} plotted=${plotted} isBars=${true}
    say=${(/** @type {number} */ value) => plural(value, texts.tokens)} sayX=${(/** @type {number} */ seconds) => shortDay(seconds * 1_000)} />`;
}
