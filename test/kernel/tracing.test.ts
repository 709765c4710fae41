import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { type OtlpCollector, startOtlpCollector } from "../fakes/otlp-collector.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

let vendor: FakeOpenAi;
let collector: OtlpCollector;
let own: TestGateway;
const configFor = (otel: object) => ({
  diagnostics: { otel: { enabled: true, endpoint: `${collector.origin}/`, flushIntervalMs: 1_000, ...otel } },
  models: { providers: { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models: [{ id: "ok" }] } } },
  agents: { defaults: { model: "lab/ok" } },
  gateway: { http: { endpoints: { chatCompletions: { enabled: true } } } },
  hooks: { enabled: true, token: "token-of-webhooks" },
});

beforeAll(async () => {
  [vendor, collector] = await Promise.all([startFakeOpenAi(), startOtlpCollector({ "x-key": "key-of-collector" })]);
  own = await createTestGateway({
    config: configFor({ headers: { "x-key": "key-of-collector" } }),
    plugins: ["store", "agents", "messaging", "webhooks", "openai-http", "model-openai-compatible", "diagnostics-otel"],
  });
});
afterAll(async () => {
  await own?.close();
  await Promise.all([vendor?.close(), collector?.close()]);
});

const chat = (headers: Record<string, string> = {}) =>
  own.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "svc", messages: [{ role: "user", content: "hello" }] }),
  });
const spanOf = (name: string, trace = traceId) => collector.spans.find((span) => span.name === name && span.traceId === trace);

test("a request's trace goes on through run and model call to the vendor, and arrives at the collector whole", async () => {
  const asked = vendor.nextRequest();
  expect((await chat({ traceparent })).status).toBe(200);
  const passedOn = String((await asked).headers.traceparent);
  await eventually(() => expect(spanOf("POST /v1/chat/completions")).toBeDefined());

  const [request, run, call] = ["POST /v1/chat/completions", "agent run", "chat ok"].map((name) => spanOf(name));
  expect(request).toMatchObject({ parentSpanId: "b7ad6b7169203331", kind: 2, owner: "svc/kernel" });
  expect(run).toMatchObject({ parentSpanId: request?.spanId, owner: "svc/agents" });
  expect(call).toMatchObject({ parentSpanId: run?.spanId, kind: 3 });
  expect(passedOn).toBe(`00-${traceId}-${call?.spanId}-01`);
  expect(request?.attributes).toContainEqual({ key: "http.response.status_code", value: { intValue: "200" } });
  expect(collector.problems).toEqual([]);
});

test("a webhook's trace goes on in the run that it sets off later", async () => {
  const trace = traceId.replace(/^0/, "1");
  const asked = vendor.nextRequest();
  const answer = await fetch(`${own.url}/hooks/agent`, {
    method: "POST",
    headers: { authorization: "Bearer token-of-webhooks", traceparent: traceparent.replace(traceId, trace) },
    body: JSON.stringify({ message: "look", deliver: false }),
  });
  expect(answer.status).toBe(200);
  expect(String((await asked).headers.traceparent)).toContain(trace);
  await eventually(() => expect(spanOf("hook delivery", trace)).toBeDefined());
  expect(spanOf("agent run", trace)?.parentSpanId).toBe(spanOf("hook delivery", trace)?.spanId);
  expect(spanOf("hook delivery", trace)?.parentSpanId).toBe(spanOf("POST /hooks", trace)?.spanId);
});

test("figures arrive in the shape of the protocol, with the name of the service", async () => {
  await eventually(() => expect(collector.metrics.map(({ name }) => name)).toContain("svc_runs_total"));
  expect(collector.metrics.map(({ name }) => name)).toEqual(expect.arrayContaining(["svc_process_rss_bytes", "svc_run_duration_ms"]));
  expect(collector.resources[0]?.attributes).toContainEqual({ key: "service.name", value: { stringValue: "svc" } });
  expect(collector.problems).toEqual([]);
});

test("a collector that is busy is asked again, one that refuses is not, and nobody waits for either", async () => {
  const trace = traceId.replace(/^0/, "2");
  const answer = (status: number) => ({ kind: "json", status, body: {} }) as const;
  collector.answerNext(answer(503), answer(503));
  expect((await chat({ traceparent: traceparent.replace(traceId, trace) })).status).toBe(200);
  await eventually(() => expect(spanOf("agent run", trace)).toBeDefined());

  collector.answerNext(answer(400), answer(400));
  await chat();
  const dropped = () =>
    own
      .service("diagnostics@1")
      .metrics()
      .find(({ name }) => name === "otel_spans_total")
      ?.series.find(({ labelValues }) => labelValues[0] === "dropped");
  await eventually(() => expect(dropped()?.value).toBeGreaterThan(0));
  expect(JSON.stringify(own.logs)).not.toContain("key-of-collector");
});

test("nothing is recorded, and no trace is passed on, once it is turned off", async () => {
  await own.reload(configFor({ enabled: false }));
  const asked = vendor.nextRequest();
  await chat({ traceparent });
  expect((await asked).headers.traceparent).toBeUndefined();
});
