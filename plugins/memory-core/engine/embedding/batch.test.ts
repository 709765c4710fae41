import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestEngine, type TestEngine } from "../../test-engine.ts";
import { createTestHost, embedFault, type TestHost, testFacts, wordVector } from "../../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../../test-workspace.ts";

const batch = { enabled: true, wait: true, concurrency: 2, pollIntervalMs: 2_000, timeoutMs: 3_600_000 };
const facts = testFacts({ batch: true });
let ws: TestWorkspace;
let host: TestHost;
let index: TestEngine;
beforeEach(() => {
  ws = createTestWorkspace({ "memory/car.md": "My car is fast.", "memory/bike.md": "My bicycle is slow." }, { batch });
  host = createTestHost();
  index = createTestEngine(ws.settings, host);
});
afterEach(async () => {
  await index.close();
  ws.remove();
});

const jobs = () => [...host.jobs.values()];
const plain = () => host.groups.flat();
const isHybrid = async (query: string) => (await index.search(query)).hits.filter((hit) => hit.vectorScore !== undefined).length;

test("texts of all files go out as one job, and its vectors are searched", async () => {
  await index.provide(facts);
  await index.sync();
  expect(jobs()).toMatchObject([{ texts: ["My bicycle is slow.", "My car is fast."], ended: true, cancelled: false }]);
  expect(plain()).toEqual([]);
  expect(await isHybrid("car")).toBe(2);
  await index.sync();
  expect(jobs()).toHaveLength(1);
});

test("it polls at the interval until the job is done; words are searched meanwhile", async () => {
  host.jobState = () => ({ state: "pending" });
  await index.provide(facts);
  const done = index.sync();
  await eventually(() => index.waits.length > 2);
  expect(await index.search("bicycle")).toMatchObject({ mode: "fts-only", hits: [{ path: "memory/bike.md" }] });
  for (const job of jobs()) job.state = { state: "done" };
  await done;
  expect(new Set(index.waits)).toEqual(new Set([2_000]));
  expect(await isHybrid("bicycle")).toBe(2);
});

test("notes that change while a job is waited for are searchable by their words at once", async () => {
  host.jobState = () => ({ state: "pending" });
  await index.provide(facts);
  await index.engine.watch();
  await eventually(() => index.waits.length > 2);
  ws.write("memory/boat.md", "My boat is yellow.");
  await eventually(async () => (await index.search("yellow")).hits.some((hit) => hit.path === "memory/boat.md"));
  expect(jobs()).toMatchObject([{ ended: false }]);
  host.jobState = () => ({ state: "done" });
  for (const job of jobs()) job.state = { state: "done" };
  await eventually(async () => (await isHybrid("yellow")) === 3);
});

test("without waiting the sync ends at once, and a later process fetches the results", async () => {
  host.jobState = () => ({ state: "pending" });
  await index.reopen(facts, { batch: { ...batch, wait: false } });
  await index.sync();
  expect([jobs().length, plain()]).toEqual([1, []]);
  expect(await index.search("bicycle")).toMatchObject({ mode: "fts-only" });

  await index.reopen(facts, { batch: { ...batch, wait: false } });
  await index.sync();
  expect([jobs().length, plain()]).toEqual([1, []]);
  for (const job of jobs()) job.state = { state: "done" };
  await index.sync();
  expect(jobs()).toMatchObject([{ ended: true }]);
  expect(await isHybrid("bicycle")).toBe(2);
});

test("a job that is waited for survives the death of the process", async () => {
  host.jobState = () => ({ state: "pending" });
  await index.provide(facts);
  const done = index.sync().catch(() => undefined);
  await eventually(() => index.waits.length > 1);
  await index.reopen(facts);
  await done;
  for (const job of jobs()) job.state = { state: "done" };
  await index.sync();
  expect([jobs().length, plain()]).toEqual([1, []]);
  expect(await isHybrid("car")).toBe(2);
});

test("a file that changed since takes no vector from an old job", async () => {
  host.jobState = (nth) => (nth === 1 ? { state: "pending" } : { state: "done" });
  await index.reopen(facts, { batch: { ...batch, wait: false } });
  await index.sync();
  ws.write("memory/car.md", "My boat is yellow.");
  for (const job of jobs()) job.state = { state: "done" };
  await index.sync();
  expect(jobs().map((job) => job.texts)).toEqual([["My bicycle is slow.", "My car is fast."], ["My boat is yellow."]]);
  await index.sync();
  const boat = (await index.search("boat yellow")).hits.find((hit) => hit.path === "memory/car.md");
  expect(boat?.vectorScore).toBeGreaterThan(0.5);
});

test("a passage whose heading changed since takes no vector from an old job", async () => {
  const body = "\n\n".concat("the same line again and again\n".repeat(120));
  ws.write("memory/long.md", `# Alpha${body}`);
  host.jobState = (nth) => (nth === 1 ? { state: "pending" } : { state: "done" });
  await index.reopen(facts, { batch: { ...batch, wait: false } });
  await index.sync();
  ws.write("memory/long.md", `# Omega${body}`);
  for (const job of jobs()) job.state = { state: "done" };
  await index.sync();
  await index.sync();
  const old = jobs()[0]
    ?.texts.filter((text) => text.startsWith("Alpha\n\n"))
    .map((text) => text.replace("Alpha", "Omega"));
  expect(old?.length).toBeGreaterThan(1);
  const asked = [...jobs().flatMap((job) => job.texts), ...plain()];
  expect(asked).toEqual(expect.arrayContaining(old?.slice(1) ?? []));
});

test("a failed job falls back to plain requests; the second failure ends batching", async () => {
  host.jobState = () => ({ state: "failed", message: "expired" });
  await index.provide(facts);
  await index.sync();
  expect(plain().sort()).toEqual(["My bicycle is slow.", "My car is fast."]);
  expect(await index.status()).toMatchObject({ batch: { failures: 1, limit: 2, lastError: expect.stringContaining("expired") } });
  expect(await isHybrid("car")).toBe(2);

  for (const name of ["one", "two"]) {
    ws.write(`memory/${name}.md`, `note ${name}`);
    await index.sync();
  }
  expect(jobs()).toHaveLength(2);
  expect(plain()).toHaveLength(4);
  expect(await index.status()).toMatchObject({ batch: { failures: 2 } });
});

test("a success forgives a failure", async () => {
  host.jobState = (nth) => (nth === 1 ? { state: "failed", message: "expired" } : { state: "done" });
  await index.provide(facts);
  await index.sync();
  ws.write("memory/one.md", "note one");
  await index.sync();
  expect(await index.status()).toMatchObject({ batch: { failures: 0 } });
});

test("a job that cannot be created falls back to plain requests", async () => {
  host.submit = () => {
    throw embedFault("overloaded", "try later");
  };
  await index.provide(facts);
  await index.sync();
  expect(plain()).toHaveLength(2);
  expect(await index.status()).toMatchObject({ batch: { failures: 1 } });
});

test("a model without a batch API is not asked for a job again", async () => {
  host.submit = () => {
    throw embedFault("model", "not available for this model or base URL");
  };
  await index.provide(facts);
  await index.sync();
  expect(await index.status()).toMatchObject({ batch: { failures: 2, lastError: "not available for this model or base URL" } });
  expect(await isHybrid("car")).toBe(2);
});

test("a job out of time is cancelled and tried once more, then plain requests are made and batching ends", async () => {
  host.jobState = () => ({ state: "pending" });
  await index.reopen(facts, { batch: { ...batch, timeoutMs: 0 } });
  await index.sync();
  expect(jobs()).toMatchObject([{ cancelled: true }, { cancelled: true }]);
  expect(plain()).toHaveLength(2);
  expect(await index.status()).toMatchObject({ batch: { failures: 2 } });
  expect(await isHybrid("car")).toBe(2);
});

test("texts that failed within a job, or that its answer lacks, are asked for plainly", async () => {
  host.results = (texts) => texts.slice(0, 1).map(() => "content refused");
  await index.provide(facts);
  await index.sync();
  expect(plain()).toHaveLength(2);
  expect(await isHybrid("car")).toBe(2);
});

test.each(["model", "bad-response"] as const)(
  "a job whose results cannot be read (%s) is over: plain requests, and no further look at it",
  async (fault) => {
    host.results = () => {
      throw embedFault(fault, "the results are gone");
    };
    await index.provide(facts);
    await index.sync();
    expect(jobs()).toMatchObject([{ ended: true, cancelled: false }]);
    expect(plain()).toHaveLength(2);
    expect(await index.status()).toMatchObject({ batch: { failures: 1, lastError: expect.stringContaining("the results are gone") } });
    await index.sync();
    expect(await index.status()).toMatchObject({ batch: { failures: 1 } });
  },
);

test("a job whose results do not get through is asked for them again", async () => {
  const answers = host.results;
  host.results = () => {
    throw embedFault("network", "try later");
  };
  await index.provide(facts);
  await index.sync();
  expect(jobs()).toMatchObject([{ ended: false }]);
  host.results = answers;
  await index.sync();
  expect(jobs()).toMatchObject([{ ended: true }]);
});

test("a vector of the wrong length out of a job is never stored", async () => {
  host.results = (texts) => texts.map((text) => wordVector(text, 3));
  await index.provide(facts);
  await index.sync();
  expect(plain()).toHaveLength(2);
  expect(await isHybrid("car")).toBe(2);
});

test("a provider without batches, or batches switched off: plain requests", async () => {
  await index.provide(testFacts());
  await index.sync();
  expect([jobs().length, plain().length]).toEqual([0, 2]);
});

test("jobs that are left when batches are switched off are cancelled", async () => {
  host.jobState = () => ({ state: "pending" });
  await index.reopen(facts, { batch: { ...batch, wait: false } });
  await index.sync();
  await index.reopen(facts, { batch: { ...batch, enabled: false } });
  await index.sync();
  expect(jobs()).toMatchObject([{ cancelled: true }]);
  expect(plain()).toHaveLength(2);
});

test("what the cache knows needs no job", async () => {
  await index.reopen(facts, { cache: { enabled: true, maxEntries: 100 } });
  await index.sync();
  await index.sync({ force: true });
  expect(jobs()).toHaveLength(1);
  expect(await isHybrid("car")).toBe(2);
});
