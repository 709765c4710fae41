import type { EmbeddingBatch, EmbeddingBatchResult } from "svc/sdk";
import { createTestRequests, embeddingContext } from "svc/sdk/testing";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFakeGeminiEmbeddings, type FakeGemini } from "../../test/fakes/embedding-gemini.ts";
import { createGeminiAdapter } from "./adapter.ts";
import { readResults } from "./batch-results.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

let vendor: FakeGemini;
let life: AbortController;
beforeEach(async () => {
  vendor = await createFakeGeminiEmbeddings();
  life = new AbortController();
});
afterEach(async () => {
  life.abort();
  await vendor.close();
});

async function open(own: { model?: string; outputDimensionality?: number } = {}) {
  const adapter = createGeminiAdapter({ env: {}, secret: () => undefined, signal: life.signal, request: requests.request });
  const opened = await adapter.create(embeddingContext({ remote: { baseUrl: vendor.url, apiKey: vendor.apiKey }, ...own }));
  return { provider: opened.provider, batch: opened.batch as EmbeddingBatch };
}

async function collected(results: AsyncIterable<EmbeddingBatchResult>): Promise<EmbeddingBatchResult[]> {
  const all: EmbeddingBatchResult[] = [];
  for await (const one of results) all.push(one);
  return all;
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => ({ fault: "none" }),
    (error: unknown) => error as { fault: string; message: string },
  );
const texts = ["the boiler needs 1.4 bar", "Grüße 🙂\nfrom two lines", "--a line that looks like an end--"];

describe("a job", () => {
  test("gives the vectors that plain calls give, in whatever order they come", async () => {
    const { provider, batch } = await open();
    const job = await batch.submit(texts, { tag: "svc-1" });
    vendor.jobs.states.push("BATCH_STATE_PENDING", "JOB_STATE_RUNNING", "BATCH_STATE_SUCCEEDED");

    expect([await batch.poll(job), await batch.poll(job), await batch.poll(job)]).toEqual([
      { state: "pending" },
      { state: "pending" },
      { state: "done" },
    ]);
    const results = await collected(batch.results(job));
    expect(results.map(({ index }) => index)).toEqual([2, 1, 0]);
    const plain = await provider.embedBatch(texts);
    for (const one of results) expect("vector" in one && one.vector).toEqual(plain[one.index]);
  });

  test("is understood by a later process, and holds no key", async () => {
    const job = await (await open()).batch.submit(texts, { tag: "svc-1" });
    const later = (await open()).batch;

    expect(job).not.toContain(vendor.apiKey);
    expect(await later.poll(job)).toEqual({ state: "done" });
    expect(await collected(later.results(job))).toHaveLength(3);
    await later.cancel(job);
    await later.cleanup(job);
    expect([vendor.jobs.cancelled, vendor.jobs.deleted]).toEqual([["batches/job-1"], ["files/in-1"]]);
  });

  test.each([
    [{}, { taskType: "RETRIEVAL_DOCUMENT", content: { parts: [{ text: "T" }] } }],
    [
      { model: "gemini-embedding-2", outputDimensionality: 768 },
      { outputDimensionality: 768, content: { parts: [{ text: "title: none | text: T" }] } },
    ],
  ])("is made as the vendor wants it (%j)", async (own, request) => {
    const { batch } = await open(own);
    await batch.submit(["T"], { tag: "svc-7" });

    const [, uploaded, created] = vendor.requests;
    expect(JSON.parse(vendor.jobs.files.get("files/in-1") ?? "")).toEqual({ key: "0", request });
    expect(uploaded?.body).toHaveLength(Number(uploaded?.headers["content-length"]));
    expect(created?.body).toEqual({
      batch: { displayName: expect.stringMatching(/^svc-7-[0-9a-f]{16}$/), inputConfig: { fileName: "files/in-1" } },
    });
    expect(batch.maxRequests).toBe(50_000);
  });

  test("of many texts is sent piece by piece", async () => {
    const { batch } = await open();
    await batch.submit(
      Array.from({ length: 5_000 }, (_, i) => `note ${i} ${"x".repeat(500)}`),
      { tag: "many" },
    );

    const lines = (vendor.jobs.files.get("files/in-1") ?? "").trim().split("\n");
    expect(lines).toHaveLength(5_000);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ key: "4999" });
  });

  test("tells which texts failed, and why", async () => {
    const { batch } = await open();
    vendor.jobs.refused.push({ key: "1", message: "blocked\n by a filter" });
    const job = await batch.submit(texts, { tag: "svc-1" });

    expect((await collected(batch.results(job))).find(({ index }) => index === 1)).toEqual({ index: 1, error: "blocked by a filter" });
  });
});

test("a text that the results leave out has failed, too", async () => {
  const { batch } = await open();
  const job = await batch.submit(texts, { tag: "svc-1" });
  vendor.jobs.missing.push("0");

  expect((await collected(batch.results(job))).at(-1)).toEqual({ index: 0, error: "the result has no line for it" });
});

test.each(["{", "null", '{"name":"batches/../x","file":"files/a","count":1}', '{"name":"batches/a","file":"files/a"}'])(
  "%s is no job",
  async (job) => {
    const { batch } = await open();

    expect(["invalid-request", "bad-response"]).toContain((await failure(batch.poll(job))).fault);
  },
);

describe("a job that fails", () => {
  test.each([
    ["BATCH_STATE_FAILED", "failed: the file is broken"],
    ["BATCH_STATE_CANCELLED", "cancelled: the file is broken"],
    ["JOB_STATE_EXPIRED", "expired: the file is broken"],
  ])("%s says so", async (state, message) => {
    const { batch } = await open();
    const job = await batch.submit(texts, { tag: "svc-1" });
    vendor.jobs.states.push(state);

    expect(await batch.poll(job)).toEqual({ state: "failed", message });
  });

  test("also when the vendor has forgotten it", async () => {
    const { batch } = await open();
    const job = await batch.submit(texts, { tag: "svc-1" });
    vendor.jobs.batches.clear();

    expect(await batch.poll(job)).toEqual({ state: "failed", message: "the vendor does not know the job any more" });
  });

  test("a look that fails is a fault of its own", async () => {
    const { batch } = await open();
    const job = await batch.submit(texts, { tag: "svc-1" });
    vendor.jobs.faults.push(500);

    expect(await failure(batch.poll(job))).toMatchObject({ fault: "overloaded" });
    expect(await batch.poll(job)).toEqual({ state: "done" });
  });
});

describe("a creation", () => {
  test("without a batch API at the vendor is a model fault, and leaves no file", async () => {
    const { batch } = await open();
    vendor.jobs.hasMethod = false;

    expect(await failure(batch.submit(texts, { tag: "svc-1" }))).toMatchObject({
      fault: "model",
      message: expect.stringContaining("batches are not available for gemini-embedding-001"),
    });
    expect(vendor.jobs.files.size).toBe(0);
  });

  test("whose answer was lost is found again by its tag", async () => {
    const { batch } = await open();
    vendor.jobs.lostCreations = 1;
    const job = await batch.submit(texts, { tag: "svc-9" });

    expect(JSON.parse(job)).toEqual({ name: "batches/job-1", file: "files/in-1", count: 3 });
    expect(vendor.jobs.batches.size).toBe(1);
  });

  test("of the same texts by an earlier process is recognised, with its file, unless it is old or has failed", async () => {
    const job = await (await open()).batch.submit(texts, { tag: "svc-1" });
    expect(await (await open()).batch.submit(texts, { tag: "svc-1" })).toBe(job);
    expect([vendor.jobs.batches.size, vendor.jobs.files.size]).toEqual([1, 1]);

    vendor.jobs.states.push("BATCH_STATE_FAILED");
    const second = await (await open()).batch.submit(texts, { tag: "svc-1" });
    vendor.jobs.states.length = 0;
    vendor.jobs.ageMs = 25 * 3_600_000;
    const third = await (await open()).batch.submit(texts, { tag: "svc-1" });
    expect(new Set([job, second, third]).size).toBe(3);
  });

  test("is never taken for one of another model or length", async () => {
    const jobs = [];
    for (const own of [{}, { model: "gemini-embedding-2" }, { model: "gemini-embedding-2", outputDimensionality: 768 }]) {
      vendor.jobs.lostCreations = 1;
      jobs.push(await (await open(own)).batch.submit(texts, { tag: "svc-1" }));
    }
    expect(jobs.map((job) => (JSON.parse(job) as { name: string }).name)).toEqual(["batches/job-1", "batches/job-2", "batches/job-3"]);
  });

  test("is tried three times, then given up", async () => {
    const { batch } = await open();
    const creations = () => vendor.requests.filter(({ path }) => path.endsWith(":asyncBatchEmbedContent")).length;
    vendor.jobs.refusedCreations = 503;

    expect(await failure(batch.submit(texts, { tag: "svc-1" }))).toMatchObject({ fault: "overloaded" });
    expect(creations()).toBe(3);
  });

  test("that is refused is not repeated", async () => {
    const { batch } = await open();
    vendor.jobs.refusedCreations = 403;

    expect(await failure(batch.submit(texts, { tag: "svc-1" }))).toMatchObject({ fault: "auth" });
    expect(vendor.requests.filter(({ path }) => path.endsWith(":asyncBatchEmbedContent"))).toHaveLength(1);
  });

  test("ends with its caller", async () => {
    const { batch } = await open();
    const stop = new AbortController();
    vendor.jobs.faults.push(500, "hang");
    const submitted = failure(batch.submit(texts, { tag: "svc-1", signal: stop.signal }));
    await expect.poll(() => vendor.requests.length).toBe(2);
    stop.abort();

    expect(await submitted).toMatchObject({ name: "AbortError" });
    expect(vendor.requests[1]?.path).toContain("/upload/");
    expect(await vendor.requests[1]?.ended).toEqual({ aborted: true });
  });
});

test("what is tidied up may be gone already", async () => {
  const { batch } = await open();
  const job = await batch.submit(texts, { tag: "svc-1" });
  vendor.jobs.outage = 500;

  await expect(batch.cancel(job)).resolves.toBeUndefined();
  await expect(batch.cleanup(job)).resolves.toBeUndefined();
});

describe("lines of results", () => {
  const values = Float32Array.of(3, 4);
  const line = (key: unknown, more: object = { response: { embedding: { values: [...values] } } }) => JSON.stringify({ key, ...more });
  async function* pieces(text: string, size: number) {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const read = (text: string, size = 7) =>
    collected(readResults(pieces(text, size), { adapter: "gemini", dims: 2, secrets: ["hidden-key-0123"] }));

  test("are read across the pieces they come in, and made unit vectors", async () => {
    const found = await read(`${line("0")}\n\r\n${line("12")}`);

    expect(found).toEqual([0, 12].map((index) => ({ index, vector: Float32Array.of(0.6, 0.8) })));
  });

  test.each([
    [{}, "no vector"],
    [{ response: null }, "no vector"],
    [{ response: { embedding: { values: [] } } }, "no vector"],
    [{ response: { embedding: { values: [1, 2, 3] } } }, "expected vectors of 2 dimensions"],
    [{ response: { embedding: { values: [1, null] } } }, "no finite number"],
    [{ error: {} }, "the vendor gave no reason"],
    [{ error: { message: "no: hidden-key-0123" } }, "no: ***"],
  ])("%j is a failure of that text only", async (more, error) => {
    expect(await read(line("3", more))).toEqual([{ index: 3, error: expect.stringContaining(error) }]);
  });

  test.each([["{broken"], [line("x")], [line(-1)], [JSON.stringify({ response: {} })], ["null"], ["x".repeat(4 * 1024 * 1024 + 2)]])(
    "%.20s is no result",
    async (text) => {
      await expect(read(`${line("0")}\n${text}`, 65_536)).rejects.toMatchObject({ fault: "bad-response" });
    },
  );
});
