import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createChatModel } from "./chat-model.ts";
import type { Progress } from "./messages.ts";
import { createProcessOwner, type ModelHandle } from "./process-owner.ts";
import { startRuntimeProcess } from "./runtime-process.ts";

/**
 * A library of models: one has to be downloaded and is none then, one takes the process with it, as a native fault does. A download of \`endless:<file>\` comes to no end
 * but by its signal, a loading of \`late:<file>\` waits for a file \`<file>.go\`; both write their file when they are over.
 */
const LIBRARY = `
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
export const LlamaLogLevel = { error: "error" };
export async function resolveModelFile(model, { download, onProgress, signal }) {
  if (model.startsWith("endless:")) {
    if (download === false) throw new Error("not here");
    onProgress?.({ downloadedSize: 1, totalSize: 4 });
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    writeFileSync(model.slice(8), "stopped");
    throw signal.reason;
  }
  if (model === "remote" && download === false) throw new Error("not here");
  onProgress?.({ downloadedSize: 4, totalSize: 4 });
  return model;
}
export const getLlama = async () => ({
  dispose: async () => undefined,
  async loadModel({ modelPath }) {
    if (modelPath.startsWith("late:")) {
      const file = modelPath.slice(5);
      while (!existsSync(file + ".go")) await sleep(5);
      const context = async () => ({ getSequence: () => ({}), contextSize: 9 });
      return { trainContextSize: 9, embeddingVectorSize: 1, createEmbeddingContext: context, dispose: async () => writeFileSync(file, "disposed") };
    }
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

/** Resolves when an opening has come so far. */
function opened(model: string, isFar: (progress: Progress) => boolean) {
  const handle = place();
  let result: Promise<unknown> = Promise.resolve();
  const far = new Promise<void>((resolve) => {
    const onProgress = (one: Progress) => void (isFar(one) && resolve());
    const request = { library, model, download: true, maxThreads: 1, use: { kind: "embed", maxTokens: 9 } } as const;
    result = handle.open(request, { what: "the model", limitMs: 60_000, onProgress });
    result.catch(() => undefined);
  });
  return { handle, far, result };
}

test("the end of a model stops its download, while another model of the process goes on", async () => {
  const other = place();
  const file = join(dir, "endless");
  const { handle, far, result } = opened(`endless:${file}`, (one) => "doneBytes" in one && one.doneBytes === 1);
  await far;
  await handle.end();
  await expect(result).rejects.toMatchObject({ fault: "aborted" });
  expect(await readFile(file, "utf8")).toBe("stopped");
  expect(other.isUsable).toBe(true);
});

test("a model that ends while it is being loaded is unloaded as soon as it is there", async () => {
  place();
  const file = join(dir, "late");
  const { handle, far, result } = opened(`late:${file}`, (one) => "loading" in one);
  await far;
  await handle.end();
  await writeFile(`${file}.go`, "");
  await expect(result).rejects.toMatchObject({ fault: "aborted" });
  expect(await readFile(file, "utf8")).toBe("disposed");
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
