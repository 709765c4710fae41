import type { EndedSpan } from "svc/sdk";
import { expect, test } from "vitest";
import { toMetricsBody, toTracesBody } from "./encode.ts";

const resource = { serviceName: "svc", serviceVersion: "1.2.3", instanceId: "boot" };
const span: EndedSpan = {
  ...{ traceId: "0".repeat(31).concat("1"), spanId: "2".repeat(16), name: "agent run", kind: "client", owner: "agents" },
  ...{ startedAt: 1_700_000_000_000.25, endedAt: 1_700_000_000_001, attributes: { a: "x", n: 2, f: 0.5, b: true } },
};

test("a span keeps its fraction of a millisecond, its attributes and its error", () => {
  const body = toTracesBody([span, { ...span, parentId: "3".repeat(16), kind: "server", error: "gone", owner: "kernel" }], resource);
  expect(body).toMatchObject({
    resourceSpans: [
      {
        resource: { attributes: expect.arrayContaining([{ key: "service.name", value: { stringValue: "svc" } }]) },
        scopeSpans: [
          {
            scope: { name: "svc/agents" },
            spans: [
              {
                ...{ kind: 3, startTimeUnixNano: "1700000000000250000", endTimeUnixNano: "1700000000001000000" },
                attributes: [
                  { key: "a", value: { stringValue: "x" } },
                  { key: "n", value: { intValue: "2" } },
                  { key: "f", value: { doubleValue: 0.5 } },
                  { key: "b", value: { boolValue: true } },
                ],
              },
            ],
          },
          { scope: { name: "svc/kernel" }, spans: [{ kind: 2, parentSpanId: "3333333333333333", status: { code: 2, message: "gone" } }] },
        ],
      },
    ],
  });
});

test("buckets are counted one by one, with one for what is above the last bound", () => {
  const series = [{ labelValues: ["ok"], value: 120, count: 6, cumulative: [1, 3] }];
  const body = toMetricsBody(
    [{ name: "search_ms", help: "x", kind: "histogram", labels: ["outcome"], buckets: [5, 10], series }],
    resource,
    {
      startedAt: 1,
      now: 2,
    },
  );
  expect(JSON.stringify(body)).toContain('"count":"6","sum":120,"bucketCounts":["1","2","3"],"explicitBounds":[5,10]');
});

test("what nothing was counted for is not sent", () => {
  const empty = { name: "x_total", help: "x", kind: "counter", labels: [], series: [] } as const;
  expect(toMetricsBody([{ ...empty, series: [] }], resource, { startedAt: 1, now: 2 })).toMatchObject({
    resourceMetrics: [{ scopeMetrics: [{ metrics: [] }] }],
  });
});
