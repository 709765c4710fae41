/**
 * Completes a row. `target` bounds the ratio, or with `targetOf: "ours"` the figure itself; `better: "higher"` turns both around.
 */
export function finishRow(row) {
  const ratio = row.baseline === undefined ? undefined : row.ours / row.baseline;
  const judged = row.targetOf === "ours" ? row.ours : ratio;
  const ok = row.target === undefined ? undefined : row.better === "higher" ? judged >= row.target : judged <= row.target;
  return { ...row, ratio, ok };
}

const columns = ["metric", "ours", "baseline", "ratio", "target", "ok"];
const widths = [44, 17, 17, 9, 12, 5];

/** Aligned text, one line a row. */
export function formatTable(rows, { head = true } = {}) {
  const line = (cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("");
  return [...(head ? [line(columns)] : []), ...rows.map((row) => line(cellsOf(row)))].join("\n");
}

function cellsOf(row) {
  return [
    `${row.id ? `${row.id} ` : ""}${row.metric}`,
    figure(row.ours, row.unit),
    row.baseline === undefined ? "–" : figure(row.baseline, row.unit),
    row.ratio === undefined ? "–" : `${row.ratio.toFixed(2)}×`,
    targetText(row),
    row.ok === undefined ? "" : row.ok ? "yes" : "NO",
  ];
}

function targetText({ target, targetOf, better, unit }) {
  if (target === undefined) return "";
  return `${better === "higher" ? "≥" : "≤"} ${target}${targetOf === "ours" ? ` ${unit}` : "×"}`;
}

function figure(value, unit) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

/** Rows whose ratio is more than a fifth worse than it was. */
export function regressions(rows, earlier) {
  return rows.flatMap((row) => {
    const before = earlier.find((e) => e.metric === row.metric && e.suite === row.suite);
    if (before?.ratio === undefined || row.ratio === undefined) return [];
    const change = row.better === "higher" ? before.ratio / row.ratio : row.ratio / before.ratio;
    return change > 1.2 ? [`${row.metric}: ${before.ratio.toFixed(2)}× → ${row.ratio.toFixed(2)}×`] : [];
  });
}

/** The committed page. */
export function resultsPage({ machine, rows, notes, failures, seconds }) {
  const cells = (row) => `| ${cellsOf(row).join(" | ")} |`;
  return [
    "# Figures of the last whole run",
    "",
    "Written by `npm run bench`. Milliseconds show the order of size on one machine; only the ratios count, each to a baseline measured in the same run.",
    "",
    `- ${machine.date}, commit ${machine.commit}, ${seconds} s`,
    `- Node ${machine.node}, ${machine.system}, ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, load ${machine.load} at the start`,
    "",
    `| ${columns.join(" | ")} |`,
    `|---|${columns
      .slice(1)
      .map(() => "---:")
      .join("|")}|`,
    ...rows.map(cells),
    "",
    ...notes.map((note) => `- ${note}`),
    ...failures.map((failure) => `- failed: ${failure.split("\n")[0]}`),
    "",
  ].join("\n");
}
