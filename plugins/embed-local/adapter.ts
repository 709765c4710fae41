import { stat } from "node:fs/promises";
import {
  type EmbeddingAdapter,
  type EmbeddingContext,
  EmbeddingError,
  expandPath,
  type LocalEmbedder,
  type LocalModelSource,
  type LocalRuntime,
  messageOf,
  type OpenedEmbedding,
} from "svc/sdk";
import { isModelReference, parseModelSource } from "svc/sdk/internal";
import { prefixStyleOf } from "./prefix-style.ts";
import { createLocalProvider } from "./provider.ts";

export interface LocalAdapterOptions {
  /** Runs the models. */
  runtime: LocalRuntime;
  /** Folder that relative paths of the config start from. */
  base: string;
}

/** The model where none is configured: 768 dimensions, 2,048 tokens, about 0.3 GB. */
const DEFAULT_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf";
const DEFAULT_DIMS = 768;
const MAX_TOKENS = 2_048;

/** The adapter `local`. Agents that use one model share it. */
export function createLocalAdapter({ runtime, base }: LocalAdapterOptions): EmbeddingAdapter {
  return {
    id: "local",
    transport: "local",
    defaultModel: DEFAULT_MODEL,
    autoSelectPriority: 10,
    async create(context) {
      if (context.auto) await checkAuto(context, base);
      const source = chooseModel(context, base);
      const size = source.kind === "file" ? await fileSize(source.path) : undefined;
      const dims = source.name === DEFAULT_MODEL ? DEFAULT_DIMS : undefined;
      checkDims(context, source, dims);
      await checkRuntime(runtime);
      const embedder = runtime.embedder({ ...fileOf(context, source, base), size, maxTokens: MAX_TOKENS });
      return opened({ context, source, size, dims, embedder });
    },
    async prepare(context, { onProgress }) {
      const source = chooseModel(context, base);
      await checkRuntime(runtime);
      await runtime.download(fileOf(context, source, base), { signal: context.signal, onProgress });
    },
  };
}

/** The file of a model: where it comes from, where it is kept, and what it has to be. */
function fileOf({ local }: EmbeddingContext, source: LocalModelSource, base: string) {
  const { modelCacheDir, sha256 } = local ?? {};
  return {
    source,
    directory: modelCacheDir === undefined ? undefined : expandPath(modelCacheDir, base),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

/** Checks auto-detection: the adapter is chosen only where a model file is named and exists. */
async function checkAuto({ local }: EmbeddingContext, base: string): Promise<void> {
  const named = local?.modelPath?.trim();
  const source = named && !isModelReference(named) ? parseModelSource(named, base) : undefined;
  const found = source?.kind === "file" ? await stat(source.path).catch(() => undefined) : undefined;
  if (!found?.isFile())
    throw new EmbeddingError("no-credentials", "local: memorySearch.local.modelPath names no model file on this machine");
}

/** @throws {EmbeddingError} `model`; a caller of the gateway must not choose what is read from the disk or downloaded */
function chooseModel({ local, model, config, agentId }: EmbeddingContext, base: string): LocalModelSource {
  const wanted = model?.replace(/^local\//, "");
  const own = config.agents.list.find(({ id }) => id === agentId)?.memorySearch?.model ?? config.agents.defaults.memorySearch?.model;
  const named = local?.modelPath ?? (wanted !== undefined && model === own ? wanted : DEFAULT_MODEL);
  const source = parseModelSource(named, base);
  if (wanted === undefined || wanted === source.name || wanted === named) return source;
  throw new EmbeddingError(
    "model",
    `local: the model is ${source.name}, got "${wanted}"; choose it by memorySearch.local.modelPath and unset model`,
  );
}

async function fileSize(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return found.size;
  throw new EmbeddingError("model", `local: ${path}: expected a GGUF model file; see memorySearch.local.modelPath`);
}

function checkDims({ outputDimensionality: wanted }: EmbeddingContext, { name }: LocalModelSource, dims: number | undefined): void {
  if (wanted === undefined || dims === undefined || wanted === dims) return;
  throw new EmbeddingError("invalid-request", `local: ${name} gives ${dims} dimensions, got outputDimensionality ${wanted}; unset it`);
}

/** Looked for at each use: whoever installs it later need not restart anything. */
async function checkRuntime(runtime: LocalRuntime): Promise<void> {
  try {
    await runtime.check();
  } catch (cause) {
    throw new EmbeddingError("model", `local: ${messageOf(cause)}; or choose another memorySearch.provider`, { cause });
  }
}

interface OpenedParts {
  context: EmbeddingContext;
  source: LocalModelSource;
  size: number | undefined;
  dims: number | undefined;
  embedder: LocalEmbedder;
}

function opened({ context, source, size, dims, embedder }: OpenedParts): OpenedEmbedding {
  const style = prefixStyleOf(source.name);
  const wanted = context.outputDimensionality;
  return {
    provider: createLocalProvider(embedder, { model: source.name, style, dims, wantedDims: wanted, maxTokens: MAX_TOKENS }),
    identity: { adapter: "local", model: source.name, size, dims: dims ?? wanted, prefix: style.name },
  };
}
