import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { createTestGateway, type TestGateway } from "../../sdk/testing/gateway.ts";
import { needs } from "../servers/needs.ts";
import { freePort } from "../servers/ports.ts";
import { startPrometheus } from "../servers/prometheus.ts";
import { root } from "./_cli.ts";

const example = (name: string) => join(root, "examples/monitoring", name);
const run = promisify(execFile);
const withPrometheus = needs("prometheus", "promtool").test;

let own: TestGateway;
beforeAll(async () => {
  own = await createTestGateway({
    config: { diagnostics: { prometheus: { enabled: true } }, hooks: { enabled: true, token: "token-of-webhooks" } },
  });
});
afterAll(() => own?.close());

/** Metrics of this project that a text of a query language names. */
const named = (text: string) => new Set([...text.matchAll(/\bsvc_[a-z0-9_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, "")));

test("every metric that the dashboard and the alert rules name is one that the gateway has", async () => {
  const answer = await (await own.fetch("/metrics")).text();
  const known = new Set([...answer.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  for (const file of ["grafana-dashboard.json", "alerts.yml"]) {
    const names = [...named(readFileSync(example(file), "utf8"))].filter((name) => name !== "svc_build_info");
    expect(names.length).toBeGreaterThan(8);
    expect(
      names.filter((name) => !known.has(name)),
      file,
    ).toEqual([]);
  }
});

test("each panel of the dashboard has a query and a place of its own", () => {
  const { panels } = JSON.parse(readFileSync(example("grafana-dashboard.json"), "utf8")) as {
    panels: Array<{ title: string; gridPos: { x: number; y: number }; targets: Array<{ expr: string }> }>;
  };
  expect(panels.length).toBeGreaterThan(20);
  expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x}/${y}`)).size).toBe(panels.length);
  for (const { title, targets } of panels)
    expect(
      targets.every(({ expr }) => expr.includes("svc_")),
      title,
    ).toBe(true);
});

withPrometheus("Prometheus scrapes a gateway with the config of the example, and loads its alert rules", async () => {
  await run("promtool", ["check", "rules", example("alerts.yml")]);
  await run("promtool", ["check", "config", "--syntax-only", example("prometheus.yml")]);
  const files = { config: example("prometheus.yml"), rules: example("alerts.yml") };
  const prometheus = await startPrometheus({ port: await freePort(), target: own.gateway.port, token: own.token, ...files });
  try {
    const found = await eventually(async () => {
      const samples = await prometheus.query("svc_build_info");
      return samples.length > 0 && samples;
    }, 20_000);
    expect(found[0]?.metric).toMatchObject({ job: "svc", version: "0.0.0-test" });
    expect((await prometheus.query('up{job="svc"}'))[0]?.value[1]).toBe("1");
    expect(await prometheus.query("histogram_quantile(0.95, sum by (le) (svc_store_commit_ms_bucket))")).toHaveLength(1);
    expect(await prometheus.rules()).toEqual(expect.arrayContaining(["SvcDown", "SvcStoreNotWritable", "SvcChannelRestarting"]));
  } finally {
    await prometheus.stop();
  }
});
