import { expect, test } from "vitest";
import { toExposition } from "./exposition.ts";

test("counters, gauges and histograms read as Prometheus expects them, with names of our own", () => {
  const text = toExposition([
    { name: "runs_total", help: "Runs", kind: "counter", labels: ["status"], series: [{ labelValues: ["ok"], value: 3 }] },
    { name: "process_rss_bytes", help: "Memory", kind: "gauge", labels: [], series: [{ labelValues: [], value: 1.5e21 }] },
    {
      ...{ name: "search_ms", help: "Search", kind: "histogram", labels: ["outcome"], buckets: [2.5, 10] },
      series: [{ labelValues: ["ok"], value: 14.5, count: 3, cumulative: [1, 2] }],
    },
    { name: "unused_total", help: "Never", kind: "counter", labels: [], series: [] },
  ]);
  expect(text.split("\n")).toEqual([
    "# HELP svc_runs_total Runs",
    "# TYPE svc_runs_total counter",
    'svc_runs_total{status="ok"} 3',
    "# HELP svc_process_rss_bytes Memory",
    "# TYPE svc_process_rss_bytes gauge",
    "svc_process_rss_bytes 1.5e+21",
    "# HELP svc_search_ms Search",
    "# TYPE svc_search_ms histogram",
    'svc_search_ms_bucket{outcome="ok",le="2.5"} 1',
    'svc_search_ms_bucket{outcome="ok",le="10"} 2',
    'svc_search_ms_bucket{outcome="ok",le="+Inf"} 3',
    'svc_search_ms_sum{outcome="ok"} 14.5',
    'svc_search_ms_count{outcome="ok"} 3',
    "# HELP svc_unused_total Never",
    "# TYPE svc_unused_total counter",
    "",
  ]);
});

test("text from outside cannot break a line or a label", () => {
  const series = [{ labelValues: ['a"b\\c\nsvc_forged_total 1'], value: Number.NaN }];
  const text = toExposition([{ name: "x_total", help: "a\\b\nc", kind: "counter", labels: ["path"], series }]);
  expect(text.split("\n").slice(0, 3)).toEqual([
    "# HELP svc_x_total a\\\\b\\nc",
    "# TYPE svc_x_total counter",
    'svc_x_total{path="a\\"b\\\\c\\nsvc_forged_total 1"} NaN',
  ]);
});
