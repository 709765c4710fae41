import type { EmbeddingContext, LocalEmbedderOptions, LocalModelDownload, LocalRuntime, Logger } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { beforeEach, expect, test } from "vitest";
import { createLocalAdapter } from "./adapter.ts";

let borrowed: LocalEmbedderOptions[];
let fetched: LocalModelDownload[];
let isInstalled: boolean;
beforeEach(() => {
  [borrowed, fetched, isInstalled] = [[], [], true];
});

const runtime: LocalRuntime = {
  async check() {
    if (!isInstalled) throw new Error("not installed; run: svc models runtime install");
  },
  async download(model, { onProgress }) {
    fetched.push(model);
    onProgress?.({ doneBytes: 1, totalBytes: 2 });
    return { path: "/models/x.gguf", bytes: 2 };
  },
  embedder(options) {
    borrowed.push(options);
    return { embed: async () => new Float32Array(1), close: async () => undefined };
  },
  chat: () => {
    throw new Error("not asked for");
  },
};
const nothing = () => undefined;
const logger: Logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
const sha256 = "ab".repeat(32);
const context = (
  local: EmbeddingContext["local"] = { modelPath: "hf:owner/repo/x.gguf", modelCacheDir: "cache", sha256 },
): EmbeddingContext => ({
  agentId: "main",
  auto: false,
  config: parseSharedConfig({}),
  logger,
  clock: { now: Date.now, monotonic: () => performance.now() },
  signal: new AbortController().signal,
  ...(local ? { local } : {}),
});
const adapter = createLocalAdapter({ runtime, base: "/state" });
const file = {
  source: { kind: "reference", uri: "hf:owner/repo/x.gguf", name: "hf:owner/repo/x.gguf" },
  directory: "/state/cache",
  sha256,
};

test("where a model comes from, where it is kept and what it has to be are the same whether it is fetched ahead or with the first document", async () => {
  await adapter.create(context());
  const seen: unknown[] = [];
  await adapter.prepare?.(context(), { onProgress: (progress) => void seen.push(progress) });
  expect(borrowed).toEqual([expect.objectContaining(file)]);
  expect(fetched).toEqual([file]);
  expect(seen).toEqual([{ doneBytes: 1, totalBytes: 2 }]);
});

test("the default model is fetched where none is named, and nothing without the runtime", async () => {
  await adapter.prepare?.(context({}), { onProgress: nothing });
  expect(fetched[0]?.source.name).toMatch(/^hf:ggml-org\/embeddinggemma-300m-qat-q8_0-GGUF\//);
  isInstalled = false;
  await expect(adapter.prepare?.(context(), { onProgress: nothing })).rejects.toThrow("run: svc models runtime install");
  expect(fetched).toHaveLength(1);
});
