import { expect, test } from "vitest";
import type { EndedSpan } from "../../sdk/types/tracing.ts";
import { createTracer } from "./tracer.ts";

const outside = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const unsampled = outside.replace(/01$/, "00");

function recording(sampleRate = 1) {
  const tracer = createTracer();
  const spans: EndedSpan[] = [];
  const recorder = tracer.record((span) => void spans.push(span), { sampleRate });
  return { tracer, spans, recorder };
}

test("while nobody records, the work runs with a silent span and no context", async () => {
  const tracer = createTracer();
  const found = await tracer.span("work", { owner: "agents", parent: outside }, async (span) => {
    span.set({ a: 1 });
    return tracer.current();
  });
  expect(found).toBeUndefined();
});

test("a span continues the trace it is given, and what runs inside is its child", async () => {
  const { tracer, spans } = recording();
  await tracer.span("request", { owner: "kernel", kind: "server", parent: outside }, async () => {
    await tracer.span("run", { owner: "agents" }, async (span) => span.set({ agent: "main" }));
  });
  const [run, request] = spans;
  expect(request).toMatchObject({
    name: "request",
    kind: "server",
    traceId: "0af7651916cd43dd8448eb211c80319c",
    parentId: "b7ad6b7169203331",
  });
  expect(run).toMatchObject({ traceId: request?.traceId, parentId: request?.spanId, owner: "agents", attributes: { agent: "main" } });
  expect(run?.endedAt).toBeGreaterThanOrEqual(run?.startedAt ?? Number.POSITIVE_INFINITY);
});

test("a malformed parent starts a new trace", async () => {
  const { tracer, spans } = recording();
  await tracer.span("request", { owner: "kernel", parent: "not-a-trace" }, async () => undefined);
  expect(spans[0]?.parentId).toBeUndefined();
  expect(spans[0]?.traceId).toMatch(/^[0-9a-f]{32}$/);
});

test("a throw fails the span and reaches the caller", async () => {
  const { tracer, spans } = recording();
  const work = tracer.span("tool", { owner: "agents" }, async () => {
    throw new Error("no such file");
  });
  await expect(work).rejects.toThrow("no such file");
  expect(spans[0]?.error).toBe("no such file");
});

test("a trace that is not sampled is recorded by nobody and still passed on", async () => {
  for (const [sampleRate, parent] of [
    [0, undefined],
    [1, unsampled],
  ] as const) {
    const { tracer, spans } = recording(sampleRate);
    const passedOn = await tracer.span("request", { owner: "kernel", parent }, async () => tracer.current());
    expect(passedOn).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(spans).toEqual([]);
  }
});

test("attributes are bounded in number and length, and a recorder that left hears nothing more", async () => {
  const { tracer, spans, recorder } = recording();
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, "x".repeat(1_000)]));
  await tracer.span("wide", { owner: "agents", attributes: many }, async () => undefined);
  expect(Object.keys(spans[0]?.attributes ?? {})).toHaveLength(32);
  expect(String(spans[0]?.attributes.k0)).toHaveLength(300);
  void recorder.dispose();
  await tracer.span("late", { owner: "agents" }, async () => undefined);
  expect(spans).toHaveLength(1);
});
