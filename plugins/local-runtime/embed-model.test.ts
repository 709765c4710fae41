import { expect, test } from "vitest";
import { createEmbedModel } from "./embed-model.ts";
import type { ModelHandle } from "./process-owner.ts";
import { ProcessFailure } from "./runtime-process.ts";

/** A place for a model whose download never brings anything. */
function stalled(begun: () => void = () => undefined): ModelHandle {
  let fail: (error: Error) => void = () => undefined;
  return {
    isUsable: true,
    open: (_request, { onProgress }) =>
      new Promise((_, reject) => {
        fail = reject;
        onProgress?.({ doneBytes: 0, totalBytes: 0 });
        begun();
      }),
    call: () => ({ result: Promise.reject(new Error("not open")), settled: Promise.resolve() }),
    end: async () => fail(new ProcessFailure("ended", "ended")),
  };
}

const modelOf = (model: () => ModelHandle, log: string[] = []) =>
  createEmbedModel({
    name: "some.gguf",
    request: { model: "hf:a/b/some.gguf", maxThreads: 1, use: { kind: "embed", maxTokens: 2_048 } },
    loadMs: 60_000,
    library: async () => "file:///library.js",
    model,
    log: (message) => log.push(message),
    idleMs: 600_000,
  });

test("while a download stands still queries fail at once, and documents wait until it is closed", async () => {
  const log: string[] = [];
  let begun: () => void = () => undefined;
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const model = modelOf(() => stalled(() => begun()), log);
  const document = model.embed("a note", { kind: "document", signals: [] });
  document.catch(() => undefined);
  const early = model.embed("asked before", { kind: "query", signals: [] }).catch((error: Error) => error);
  await isBegun;
  await expect(model.embed("asked later", { kind: "query", signals: [] })).rejects.toMatchObject({
    fault: "not-ready",
    message: expect.stringContaining("is being downloaded"),
  });
  expect(log).toEqual(["downloading the model some.gguf"]);
  await model.close();
  await expect(document).rejects.toThrow("the model was closed");
  expect(await early).toMatchObject({ name: "EmbeddingError" });
});

test("the 1,001st waiting text is refused, and an abort takes one out again", async () => {
  const model = modelOf(() => stalled());
  const stop = new AbortController();
  const first = model.embed("taken", { kind: "document", signals: [] });
  const waiting = Array.from({ length: 1_000 }, (_, i) =>
    model.embed(`note ${i}`, { kind: "document", signals: i === 0 ? [stop.signal] : [] }).catch((error: Error) => error),
  );
  first.catch(() => undefined);
  await expect(model.embed("one too many", { kind: "document", signals: [] })).rejects.toMatchObject({ fault: "overloaded" });
  stop.abort(new Error("left"));
  expect(await waiting[0]).toMatchObject({ message: "left" });
  const taken = model.embed("in its place", { kind: "document", signals: [] }).catch((error: Error) => error);
  await model.close();
  expect(await taken).toMatchObject({ message: "local: the model was closed" });
});
