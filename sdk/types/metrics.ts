import type { Disposable } from "./common.ts";

/** Declaration of one metric. */
export interface MetricSpec {
  /**
   * `^[a-z][a-z0-9_]{2,79}$` with its unit at the end: `_total`, `_ms`, `_bytes`. That of a plugin which does not come with svc begins with the plugin's id,
   * `-` written as `_`.
   */
  name: string;
  /** One line for people. */
  help: string;
  /** Names of at most four labels; values are given in this order. */
  labels?: readonly string[];
  /** Maximum number of combinations of label values, 200 unless set, at most 2,000: later ones count under `other`. */
  maxSeries?: number;
}

/** A sum that only grows. */
export interface Counter {
  add(by: number, ...labelValues: string[]): void;
}

/** Observed values, counted in fixed buckets. */
export interface Histogram {
  observe(value: number, ...labelValues: string[]): void;
}

/** Takes one value of a gauge. */
export type SetGauge = (value: number, ...labelValues: string[]) => void;

/** Figures of one plugin for monitoring. They end with the plugin; while `diagnostics.enabled` is false nothing is counted. Never throws. */
export interface Metrics {
  counter(spec: MetricSpec): Counter;
  /** @param spec.buckets upper bounds, ascending, at most 20; default: 1 ms to 60 s */
  histogram(spec: MetricSpec & { buckets?: readonly number[] }): Histogram;
  /**
   * A value that is read when somebody looks. Several plugins may set values of one gauge.
   * @param read must be quick and return at once; what it throws is logged and counts against the plugin
   */
  gauge(spec: MetricSpec, read: (set: SetGauge) => void): Disposable;
}

/** One combination of label values. */
export interface MetricSeries {
  labelValues: readonly string[];
  /** Of a histogram: the sum of all values. */
  value: number;
  /** Histograms only: number of values up to each bound, and of all. */
  cumulative?: readonly number[];
  count?: number;
}

/** One metric with its present values. */
export interface MetricFamily {
  name: string;
  help: string;
  kind: "counter" | "gauge" | "histogram";
  labels: readonly string[];
  buckets?: readonly number[];
  series: MetricSeries[];
}
