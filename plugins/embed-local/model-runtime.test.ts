import { EmbeddingError } from "svc/sdk";
import { expect, test } from "vitest";
import type { ModelProcess } from "./model-process.ts";
import { createModelRuntime, type ModelRuntimeOptions } from "./model-runtime.ts";

/** A process whose download never brings anything. */
function stalled(onDownload: (doneBytes: number, totalBytes: number) => void): ModelProcess {
  let fail: (error: Error) => void = () => undefined;
  return {
    isUsable: true,
    open: () =>
      new Promise((_, reject) => {
        fail = reject;
        onDownload(0, 0);
      }),
    embed: () => Promise.reject(new Error("not open")),
    end: async () => fail(new EmbeddingError("overloaded", "ended")),
  };
}

const runtimeOf = (start: ModelRuntimeOptions["start"], log: string[] = []) =>
  createModelRuntime({
    name: "some.gguf",
    request: { model: "hf:a/b/some.gguf", maxThreads: 1, maxTokens: 2_048 },
    library: async () => "file:///library.js",
    start,
    log: (message) => log.push(message),
    idleMs: 600_000,
  });

test("while a download stands still queries fail at once, and documents wait until it is closed", async () => {
  const log: string[] = [];
  let begun: () => void = () => undefined;
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const start = (onDownload: (doneBytes: number, totalBytes: number) => void) =>
    stalled((...sizes) => {
      onDownload(...sizes);
      begun();
    });
  const runtime = runtimeOf(start, log);
  const document = runtime.embed("a note", { kind: "document", signals: [] });
  document.catch(() => undefined);
  const early = runtime.embed("asked before", { kind: "query", signals: [] }).catch((error: Error) => error);
  await isBegun;
  await expect(runtime.embed("asked later", { kind: "query", signals: [] })).rejects.toMatchObject({
    fault: "not-ready",
    message: expect.stringContaining("is being downloaded"),
  });
  expect(log).toEqual(["downloading the embedding model some.gguf"]);
  await runtime.close();
  await expect(document).rejects.toThrow("the model was closed");
  expect(await early).toMatchObject({ name: "EmbeddingError" });
});

test("the 1,001st waiting text is refused, and an abort takes one out again", async () => {
  const runtime = runtimeOf(stalled);
  const stop = new AbortController();
  const first = runtime.embed("taken", { kind: "document", signals: [] });
  const waiting = Array.from({ length: 1_000 }, (_, i) =>
    runtime.embed(`note ${i}`, { kind: "document", signals: i === 0 ? [stop.signal] : [] }).catch((error: Error) => error),
  );
  first.catch(() => undefined);
  await expect(runtime.embed("one too many", { kind: "document", signals: [] })).rejects.toMatchObject({ fault: "overloaded" });
  stop.abort(new Error("left"));
  expect(await waiting[0]).toMatchObject({ message: "left" });
  const taken = runtime.embed("in its place", { kind: "document", signals: [] }).catch((error: Error) => error);
  await runtime.close();
  expect(await taken).toMatchObject({ message: "local: the model was closed" });
});
