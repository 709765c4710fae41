import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createChatModel } from "./chat-model.ts";
import type { Progress } from "./messages.ts";
import { createProcessOwner, type ModelHandle } from "./process-owner.ts";
import { startRuntimeProcess } from "./runtime-process.ts";

/** A library of two models: one has to be downloaded and is none then, the other one takes the process with it, as a native fault does. */
const LIBRARY = `
export const LlamaLogLevel = { error: "error" };
export async function resolveModelFile(model, { download, onProgress }) {
  if (model === "remote" && download === false) throw new Error("not here");
  onProgress?.({ downloadedSize: 4, totalSize: 4 });
  return model;
}
export const getLlama = async () => ({
  dispose: async () => undefined,
  loadModel({ modelPath }) {
    if (modelPath === "fatal") process.kill(process.pid, "SIGKILL");
    return modelPath === "fatal" ? new Promise(() => undefined) : Promise.reject(new Error("no model"));
  },
});
`;

let dir: string;
let library: string;
const own: ModelHandle[] = [];
const env = { PATH: process.env.PATH ?? "" };
const owner = createProcessOwner(() => startRuntimeProcess({ env, log: () => undefined }));
const place = () => {
  const handle = owner.model();
  own.push(handle);
  return handle;
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-process-"));
  await writeFile(join(dir, "library.mjs"), LIBRARY);
  library = pathToFileURL(join(dir, "library.mjs")).href;
});
afterAll(() => rm(dir, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(own.splice(0).map((handle) => handle.end()));
});

const use = { kind: "chat", contextWindow: 99, sequences: 2 } as const;

test("the process says when a download has come to its end and the loading begins", async () => {
  const progress: Progress[] = [];
  const onProgress = (one: Progress) => void progress.push(one);
  const request = { library, model: "remote", download: true, maxThreads: 1, use };
  await expect(place().open(request, { what: "the model", limitMs: 60_000, onProgress })).rejects.toMatchObject({ fault: "model" });
  expect(progress).toEqual([{ doneBytes: 0, totalBytes: 0 }, { doneBytes: 4, totalBytes: 4 }, { loading: true }]);
});

test("a model whose loading ends the process is one that cannot be used, which is not tried again", async () => {
  const model = createChatModel({
    name: "fatal.gguf",
    request: { model: "fatal", maxThreads: 1, use },
    loadMs: 60_000,
    library: async () => library,
    model: place,
    log: () => undefined,
    idleMs: 60_000,
  });
  const pieces = model.stream({ history: [], sampling: {} }, { signal: new AbortController().signal });
  await expect(pieces[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    fault: "model_not_found",
    message:
      "local: fatal.gguf: the process of the models ended (signal SIGKILL) while it was loading the model; most likely this machine has not enough memory for it",
  });
  await model.close();
});
