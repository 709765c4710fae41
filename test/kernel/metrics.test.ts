import { definePlugin } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const weather = definePlugin({
  id: "my-weather",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.metrics.counter({ name: "my_weather_reports_total", help: "Reports", labels: ["place"] }).add(2, "here");
    ctx.metrics.counter({ name: "runs_total", help: "Not mine" }).add(1);
    ctx.metrics.gauge({ name: "my_weather_degrees", help: "Degrees" }, () => {
      throw new Error("no thermometer");
    });
  },
});

const on = { diagnostics: { prometheus: { enabled: true } }, hooks: { enabled: true, token: "token-of-webhooks" } };
let own: TestGateway;
beforeAll(async () => {
  own = await createTestGateway({
    config: on,
    plugins: ["store", "agents", "messaging", "memory-core", "webhooks", "control-ui", "diagnostics-prometheus", weather],
    models: [fakeModel(["fine"])],
  });
});
afterAll(() => own?.close());

const scrape = async () => (await own.fetch("/metrics")).text();
const sampleOf = (text: string, sample: string) =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${sample} `))
      ?.slice(sample.length + 1),
  );

test("figures are served to operators only, in the text format of Prometheus", async () => {
  const answer = await own.fetch("/metrics");
  expect([answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
    "no-store",
  ]);
  expect((await fetch(`${own.url}/metrics`)).status).toBe(401);
  expect((await own.fetch("/metrics", { method: "POST" })).status).toBe(405);
});

test("requests, calls, runs, models, hooks and commits are counted where they happen", async () => {
  await own.rpc("chat.history", { sessionKey: "main" });
  await expect(own.rpc("no.such.method")).rejects.toThrow();
  await own
    .service("agents@1")
    .run({ message: "hi", trigger: "user", actor: { kind: "plugin" }, agentId: "main" } as never)
    .then((run) => run.done);
  const hook = (token: string) =>
    fetch(`${own.url}/hooks/wake`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body: '{"text":"hey"}' });
  await hook("token-of-webhooks");
  await hook("wrong");

  const text = await scrape();
  const counted = [
    'svc_rpc_duration_ms_count{method="chat.history",outcome="ok"}',
    'svc_http_requests_total{route="/hooks",method="POST",status="200"}',
    'svc_http_requests_total{route="/hooks",method="POST",status="401"}',
    'svc_hook_requests_total{path="wake",status="200"}',
    'svc_hook_requests_total{path="none",status="401"}',
    'svc_runs_total{status="ok",trigger="user"}',
    "svc_store_commit_ms_count",
    "svc_process_rss_bytes",
    'svc_ws_connections{role="operator"}',
    'svc_plugins{state="active"}',
  ];
  for (const sample of counted) expect(sampleOf(text, sample), sample).toBeGreaterThan(0);
  for (const name of ["queue_depth", "channel_restarts_total", "memory_search_ms", "event_loop_delay_ms", "deliveries_total"])
    expect(text).toContain(`# TYPE svc_${name} `);
});

test("a plugin from outside counts under its own name, and nobody counts under that of another", async () => {
  const text = await scrape();
  expect(sampleOf(text, 'svc_my_weather_reports_total{place="here"}')).toBe(2);
  expect(
    own.gateway
      .plugins()
      .find(({ id }) => id === "my-weather")
      ?.diagnostics.map(({ code }) => code),
  ).toEqual(["reserved-name"]);
  expect(sampleOf(text, 'svc_plugin_faults_total{plugin="my-weather",kind="error"}')).toBeGreaterThan(0);
});

test("turning it off takes the address away, and turning counting off leaves nothing to read", async () => {
  await own.reload({ ...on, diagnostics: { prometheus: { enabled: false } } });
  expect((await own.fetch("/metrics")).status).toBe(404);
  await own.reload({ ...on, diagnostics: { enabled: false, prometheus: { enabled: true } } });
  expect((await own.fetch("/metrics")).status).toBe(404);
  expect(own.service("diagnostics@1").metrics()).toEqual([]);
  await own.reload(on);
  expect((await own.fetch("/metrics")).status).toBe(200);
});
