import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestEngine, type TestEngine } from "../test-engine.ts";
import { createTestHost, embedFault, type TestHost, testFacts, wordVector } from "../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(200, 7)]);
const mp3 = Buffer.concat([Buffer.from("ID3"), Buffer.alloc(200, 1)]);
const facts = testFacts({ multimodal: true, dims: 64 });
let ws: TestWorkspace;
let host: TestHost;
let index: TestEngine;
let seen: Array<{ text: string; mime: string; bytes: number }>;
beforeEach(() => {
  ws = createTestWorkspace({ "memory/car.md": "My car is fast." });
  Object.assign(ws.settings, {
    extraPaths: [join(ws.folder, "media")],
    multimodal: { modalities: ["image", "audio"], maxFileBytes: 1_000 },
  });
  mkdirSync(join(ws.folder, "media/deep"), { recursive: true });
  host = createTestHost();
  seen = [];
  host.media = (input) => {
    seen.push({ text: input.text, mime: input.mime, bytes: input.data.length });
    return [wordVector(input.text)];
  };
  index = createTestEngine(ws.settings, host);
});
afterEach(async () => {
  await index.close();
  ws.remove();
});

const put = (name: string, content: Uint8Array) => writeFileSync(join(ws.folder, "media", name), content);
const files = async () => ((await index.status()).fileList ?? []).map(({ path, chunks }) => [path, chunks]);
const skipped = () => index.logs().filter((line) => line.includes("was skipped"));

test("images and sounds of extra paths become one passage each, found by words and by vector", async () => {
  put("cat.png", png);
  put("deep/song.MP3", mp3);
  await index.provide(facts);
  await index.sync();
  expect(seen).toEqual([
    { text: "Image file: ../media/cat.png", mime: "image/png", bytes: png.length },
    { text: "Audio file: ../media/deep/song.MP3", mime: "audio/mpeg", bytes: mp3.length },
  ]);
  const cat = (await index.search("cat")).hits.find((hit) => hit.path === "../media/cat.png");
  expect(cat).toMatchObject({
    startLine: 1,
    endLine: 1,
    snippet: "Image file: ../media/cat.png",
    vectorScore: expect.any(Number),
    textScore: expect.any(Number),
  });
  seen.length = 0;
  await index.sync();
  expect(seen).toEqual([]);
});

test("never under memory/, even when it is an extra path as well", async () => {
  ws.write("memory/cat.png", png);
  await index.reopen(facts, { extraPaths: [ws.path("memory"), ws.path("memory/cat.png"), ws.root] });
  await index.sync();
  expect(await files()).toEqual([["memory/car.md", 1]]);
});

test("only what is switched on is taken", async () => {
  put("cat.png", png);
  put("song.mp3", mp3);
  await index.reopen(facts, { multimodal: { modalities: ["audio"], maxFileBytes: 1_000 } });
  await index.sync();
  expect((await files()).map(([path]) => path)).toEqual(["../media/song.mp3", "memory/car.md"]);
  await index.reopen(facts, { multimodal: { modalities: [], maxFileBytes: 1_000 } });
  await index.sync();
  expect((await files()).map(([path]) => path)).toEqual(["memory/car.md"]);
});

test("a file that is not what its name says is skipped and named once", async () => {
  put("fake.png", mp3);
  put("text.jpg", Buffer.from("hello"));
  await index.provide(facts);
  await index.sync();
  await index.sync();
  expect(skipped()).toEqual([
    "memory file ../media/fake.png was skipped: its content is not what its name says",
    "memory file ../media/text.jpg was skipped: its content is not what its name says",
  ]);
  expect(seen).toEqual([]);
});

test("a file of maxFileBytes is taken, one byte more is too much", async () => {
  put("full.png", Buffer.concat([png, Buffer.alloc(1_000 - png.length)]));
  put("more.png", Buffer.concat([png, Buffer.alloc(1_001 - png.length)]));
  await index.provide(facts);
  await index.sync();
  expect(seen.map(({ text }) => text)).toEqual(["Image file: ../media/full.png"]);
  expect(skipped()).toEqual([expect.stringContaining("more.png was skipped: it is larger than memorySearch.multimodal.maxFileBytes")]);
});

test.each(["too-long", "invalid-request"] as const)(
  "one that the vendor refuses (%s) is remembered as seen, and the sync goes on",
  async (fault) => {
    put("odd.heic", Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypheic")]));
    put("zebra.png", png);
    const taken = host.media;
    host.media = (input) => {
      if (input.mime === "image/heic") throw embedFault(fault, "unsupported format");
      return taken(input);
    };
    await index.provide(facts);
    await index.sync();
    expect(await files()).toEqual([
      ["../media/odd.heic", 0],
      ["../media/zebra.png", 1],
      ["memory/car.md", 1],
    ]);
    expect(skipped()).toEqual(["memory file ../media/odd.heic was skipped: unsupported format"]);
    const calls = host.calls.length;
    await index.sync();
    expect(host.calls.length).toBe(calls);
  },
);

test("a picture that has no sound vector is left out with a reason, and the provider goes on", async () => {
  put("odd.png", png);
  put("zebra.png", Buffer.concat([png, Buffer.from("z")]));
  host.media = ({ text }) => [text.includes("odd") ? new Float32Array(64).fill(Number.NaN) : wordVector(text)];
  await index.provide(facts);
  await index.sync();
  expect(await files()).toEqual([
    ["../media/odd.png", 0],
    ["../media/zebra.png", 1],
    ["memory/car.md", 1],
  ]);
  expect(skipped()).toEqual([
    expect.stringMatching(/odd\.png was skipped: the provider answered with a vector with a number that is none/),
  ]);
  expect(index.news.filter(({ news }) => news === "embedding-failed")).toEqual([]);
  expect(await index.search("zebra")).toMatchObject({ mode: "hybrid" });
});

test("without a provider, or while it is away, media wait; text does not", async () => {
  put("cat.png", png);
  await index.provide(null);
  await index.sync();
  expect(await files()).toEqual([["memory/car.md", 1]]);
  host.media = () => {
    throw embedFault("auth");
  };
  await index.provide(facts);
  await index.sync();
  expect(await files()).toEqual([["memory/car.md", 1]]);
  host.media = (input) => [wordVector(input.text)];
  await index.sync({ reason: "request" });
  expect(await files()).toEqual([
    ["../media/cat.png", 1],
    ["memory/car.md", 1],
  ]);
});

test("a model that takes only text leaves media out", async () => {
  put("cat.png", png);
  await index.provide(testFacts({ multimodal: false }));
  await index.sync();
  expect(await files()).toEqual([["memory/car.md", 1]]);
});

test("media are never sent through batch jobs", async () => {
  put("cat.png", png);
  await index.reopen(
    { ...facts, batch: true },
    { batch: { enabled: true, wait: true, concurrency: 2, pollIntervalMs: 1, timeoutMs: 60_000 } },
  );
  await index.sync();
  expect([...host.jobs.values()].map((job) => job.texts)).toEqual([["My car is fast."]]);
  expect(seen).toHaveLength(1);
});

test("a changed image replaces the old one, a deleted one goes", async () => {
  put("cat.png", png);
  await index.provide(facts);
  await index.sync();
  put("cat.png", Buffer.concat([png, Buffer.from("more")]));
  await index.sync();
  expect([seen.length, await files()]).toEqual([
    2,
    [
      ["../media/cat.png", 1],
      ["memory/car.md", 1],
    ],
  ]);
  rmSync(join(ws.folder, "media/cat.png"));
  await index.sync();
  expect(await files()).toEqual([["memory/car.md", 1]]);
});

test("symlinks and FIFOs with the right name are left alone", async () => {
  put("real.png", png);
  symlinkSync(join(ws.folder, "media/real.png"), join(ws.folder, "media/link.png"));
  execFileSync("mkfifo", [join(ws.folder, "media/pipe.png")]);
  await index.provide(facts);
  await index.sync();
  expect((await files()).map(([path]) => path)).toEqual(["../media/real.png", "memory/car.md"]);
});
