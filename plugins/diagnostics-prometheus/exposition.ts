import type { MetricFamily, MetricSeries } from "svc/sdk";

/** The text format that every version of Prometheus reads. */
export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Every name begins with it, so that nobody else's metric has the same one. */
const PREFIX = "svc_";

/**
 * Figures in the text format of Prometheus. Pure.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function toExposition(families: readonly MetricFamily[]): string {
  return families.flatMap(linesOf).join("\n").concat("\n");
}

function linesOf(family: MetricFamily): string[] {
  const name = PREFIX + family.name;
  const samples = family.series.flatMap((series) =>
    family.kind === "histogram" ? histogramLines(name, family, series) : [line(name, family.labels, series)],
  );
  // A metric without a value is announced all the same: a query for it is no mistake.
  return [`# HELP ${name} ${escapeHelp(family.help)}`, `# TYPE ${name} ${family.kind}`, ...samples];
}

function line(name: string, labels: readonly string[], { labelValues, value }: MetricSeries): string {
  return `${name}${braces(pairs(labels, labelValues))} ${numberText(value)}`;
}

function histogramLines(name: string, { labels, buckets = [] }: MetricFamily, series: MetricSeries): string[] {
  const own = pairs(labels, series.labelValues);
  const count = series.count ?? 0;
  const bucketLine = (bound: string, upTo: number) => `${name}_bucket${braces([...own, `le="${bound}"`])} ${upTo}`;
  return [
    ...buckets.map((bound, i) => bucketLine(numberText(bound), series.cumulative?.[i] ?? 0)),
    bucketLine("+Inf", count),
    `${name}_sum${braces(own)} ${numberText(series.value)}`,
    `${name}_count${braces(own)} ${count}`,
  ];
}

function pairs(labels: readonly string[], values: readonly string[]): string[] {
  return labels.map((label, i) => `${label}="${escapeValue(values[i] ?? "")}"`);
}

function braces(inside: readonly string[]): string {
  return inside.length === 0 ? "" : `{${inside.join(",")}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
