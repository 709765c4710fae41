import { expect, test } from "vitest";
import { createMetricRegistry } from "./registry.ts";

const kernel = { id: "kernel" };
const open = (onFault: (owner: string) => void = () => undefined) => createMetricRegistry(onFault);
const valuesOf = (registry: ReturnType<typeof open>, name: string) =>
  registry
    .read()
    .find((family) => family.name === name)
    ?.series.map(({ labelValues, value }) => [...labelValues, value]);

test("a counter adds up by its labels, and only what makes it grow", () => {
  const registry = open();
  const runs = registry.counter({ name: "runs_total", help: "Runs", labels: ["status", "trigger"] }, kernel);
  runs.attach();
  runs.handle.add(1, "ok", "user");
  runs.handle.add(2, "ok", "user");
  runs.handle.add(1, "error", "hook");
  for (const by of [-1, 0, Number.NaN, Number.POSITIVE_INFINITY]) runs.handle.add(by, "ok", "user");
  expect(valuesOf(registry, "runs_total")).toEqual([
    ["ok", "user", 3],
    ["error", "hook", 1],
  ]);
});

test("a histogram counts each value up to its bound, the bound included", () => {
  const registry = open();
  const times = registry.histogram({ name: "search_ms", help: "Searches", buckets: [10, 100] }, kernel);
  times.attach();
  for (const ms of [10, 11, 100, 5_000, Number.NaN]) times.handle.observe(ms);
  expect(registry.read()[0]).toMatchObject({
    kind: "histogram",
    buckets: [10, 100],
    series: [{ value: 5_121, count: 4, cumulative: [1, 3] }],
  });
});

test("label values beyond the bound count under other, and long ones are cut", () => {
  const registry = open();
  const calls = registry.counter({ name: "calls_total", help: "Calls", labels: ["name"], maxSeries: 2 }, kernel);
  calls.attach();
  for (const name of ["a", "b", "c", "d", "a"]) calls.handle.add(1, name);
  expect(valuesOf(registry, "calls_total")).toEqual([
    ["a", 2],
    ["b", 1],
    ["other", 2],
  ]);
  const long = registry.counter({ name: "long_total", help: "Long", labels: ["name"] }, kernel);
  long.attach();
  long.handle.add(1, "x".repeat(10_000));
  expect(valuesOf(registry, "long_total")).toEqual([["x".repeat(120), 1]]);
});

test("a gauge is read when somebody looks; a reader that throws costs only its own values", () => {
  const faulty: string[] = [];
  const registry = open((owner) => faulty.push(owner));
  const spec = { name: "queue_depth", help: "Waiting", labels: ["queue"] };
  let depth = 1;
  registry.gauge(spec, { id: "agents" }, (set) => set(depth, "runs")).attach();
  registry
    .gauge(spec, { id: "store" }, () => {
      throw new Error("closed");
    })
    .attach();
  depth = 7;
  expect(valuesOf(registry, "queue_depth")).toEqual([["runs", 7]]);
  expect(faulty).toEqual(["store"]);
});

test("a metric ends with its plugin; one that takes over during a reload goes on counting", () => {
  const registry = open();
  const spec = { name: "sends_total", help: "Sends" };
  const first = registry.counter(spec, { id: "messaging" });
  const listed = first.attach();
  first.handle.add(5);
  const next = registry.counter(spec, { id: "messaging" });
  const successor = next.attach();
  void listed.dispose();
  next.handle.add(1);
  expect(valuesOf(registry, "sends_total")).toEqual([[6]]);
  void successor.dispose();
  expect(registry.read()).toEqual([]);
});

test("a switched-off registry counts nothing and lists nothing", () => {
  const registry = open();
  const sends = registry.counter({ name: "sends_total", help: "Sends" }, kernel);
  sends.attach();
  registry.enable(false);
  sends.handle.add(1);
  expect(registry.read()).toEqual([]);
  registry.enable(true);
  expect(valuesOf(registry, "sends_total")).toEqual([]);
});

test("what is misdeclared is refused with the reason", () => {
  const registry = open();
  registry.counter({ name: "taken_total", help: "Taken" }, kernel).attach();
  const refused = [
    [{ name: "Bad-Name", help: "x" }, kernel, /expected a name such as requests_total/],
    [{ name: "no_help_total", help: " " }, kernel, /expected a help text/],
    [{ name: "many_total", help: "x", labels: ["a", "b", "c", "d", "e"] }, kernel, /at most 4 labels, got 5/],
    [{ name: "le_total", help: "x", labels: ["le"] }, kernel, /expected a label such as channel/],
    [{ name: "twice_total", help: "x", labels: ["a", "a"] }, kernel, /each label once/],
    [{ name: "taken_total", help: "x" }, { id: "weather" }, /is taken by plugin "kernel"/],
    [{ name: "http_total", help: "x" }, { id: "my-weather", isOutside: true }, /begin it with my_weather_/],
  ] as const;
  for (const [spec, owner, reason] of refused) expect(() => registry.counter(spec, owner).attach()).toThrow(reason);
  expect(() => registry.histogram({ name: "odd_ms", help: "x", buckets: [2, 1] }, kernel).attach()).toThrow(/ascending bounds/);
  expect(() => registry.counter({ name: "my_weather_total", help: "x" }, { id: "my-weather", isOutside: true }).attach()).not.toThrow();
});
