import type { EndedSpan, HttpResponse, PluginContext, SvcConfig } from "svc/sdk";
import { eventually, fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { startExport } from "./otel-export.ts";

const span: EndedSpan = {
  ...{ traceId: "1".repeat(32), spanId: "2".repeat(16), name: "work", kind: "internal", owner: "agents", startedAt: 1, endedAt: 2 },
  attributes: {},
};

type Answer = { status: number; body?: string; headers?: Record<string, string> } | Error | "hang";

/** An export whose collector gives these answers in turn, then 200. */
function open(answers: Answer[] = []) {
  const clock = fakeClock();
  const counted: Record<string, number> = {};
  const asked: Array<{ url: string; spans: number }> = [];
  const logs: string[] = [];
  let listener: (span: EndedSpan) => void = () => undefined;
  const note = (message: string) => void logs.push(message);
  const logger = { trace: note, debug: note, info: note, warn: note, error: note, child: () => logger };
  const request = async (url: string, { body, signal }: { body: string; signal: AbortSignal }) => {
    const { resourceSpans } = JSON.parse(body) as { resourceSpans?: Array<{ scopeSpans: Array<{ spans: unknown[] }> }> };
    asked.push({ url, spans: resourceSpans?.[0]?.scopeSpans[0]?.spans.length ?? 0 });
    const answer = answers.shift() ?? { status: 200 };
    if (answer === "hang") return new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    if (answer instanceof Error) throw answer;
    const { status, body: text = "{}", headers = {} } = answer;
    return { status, headers, body: [text] as unknown as HttpResponse["body"] };
  };
  const diagnostics = {
    metrics: () => [],
    recordSpans(heard: typeof listener) {
      listener = heard;
      const dispose = () => {
        listener = () => undefined;
      };
      return { dispose };
    },
  };
  const services: Record<string, object> = {
    "diagnostics@1": diagnostics,
    "gateway@1": { info: () => ({ version: "1", bootId: "b", startedAt: 0 }) },
  };
  const add = (by: number, outcome: string) => {
    counted[outcome] = (counted[outcome] ?? 0) + by;
  };
  const ctx = {
    ...{ clock, timers: clock, logger, request, secret: () => "key", registerHealthCheck: () => ({ dispose: () => undefined }) },
    service: (name: string) => services[name],
    metrics: { counter: () => ({ add }) },
  } as unknown as PluginContext<unknown>;
  const otel = { enabled: true, endpoint: "http://collector:4318/", serviceName: "svc", sampleRate: 1, flushIntervalMs: 60_000 };
  const exported = startExport(ctx, { diagnostics: { otel } } as unknown as SvcConfig);
  const end = (count: number) => {
    for (let i = 0; i < count; i++) listener(span);
  };
  const traces = () => asked.filter(({ url }) => url === "http://collector:4318/v1/traces").map(({ spans }) => spans);
  return { clock, counted, asked, logs, end, traces, exported };
}

test("spans wait for the interval, go in batches of 512, and figures go with them", async () => {
  const { clock, end, traces, asked, counted } = open();
  end(3);
  expect(asked).toEqual([]);
  await clock.advance(60_000);
  await eventually(() => expect(counted).toEqual({ sent: 3, rejected: 0 }));
  expect(asked.map(({ url }) => url)).toEqual(["http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"]);
  end(600);
  await eventually(() => expect(traces()).toEqual([3, 512, 88]));
});

test("beyond 2,048 waiting spans the newest are dropped and counted; the work goes on", async () => {
  const { end, counted, traces } = open(["hang"]);
  end(512);
  await eventually(() => expect(traces()).toEqual([512]));
  end(2_050);
  expect(counted).toEqual({ dropped: 2 });
});

test("a busy collector is asked five times with pauses, then the batch is dropped; one line says so, one when it is over", async () => {
  const busy = { status: 503, headers: { "retry-after": "2" } };
  const { clock, end, traces, counted, logs } = open([busy, busy, new Error("refused"), busy, busy]);
  end(512);
  await eventually(() => expect(traces()).toHaveLength(1));
  await clock.advance(1_999);
  expect(traces()).toHaveLength(1);
  await clock.advance(1);
  expect(traces()).toHaveLength(2);
  await clock.advance(30_000);
  expect(traces()).toHaveLength(5);
  await eventually(() => expect(counted).toEqual({ dropped: 512 }));
  end(512);
  await eventually(() => expect(counted.sent).toBe(512));
  expect(logs).toEqual(["traces and metrics are not taken by the collector", "the collector takes traces and metrics again"]);
});

test("what a collector rejects of a batch is counted apart", async () => {
  const { end, counted } = open([{ status: 200, body: '{"partialSuccess":{"rejectedSpans":"12","errorMessage":"too old"}}' }]);
  end(512);
  await eventually(() => expect(counted).toEqual({ sent: 500, rejected: 12 }));
});

test("a stop sends what waits, and gives up on a collector that does not answer", async () => {
  const sending = open();
  sending.end(3);
  await sending.exported.stop();
  expect(sending.traces()).toEqual([3]);
  sending.end(1);
  expect(sending.counted).toMatchObject({ sent: 3, dropped: 0 });
});
