import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import {
  type EmbeddingAdapter,
  type EmbeddingContext,
  EmbeddingError,
  expandPath,
  type Logger,
  messageOf,
  type OpenedEmbedding,
  type PluginVendor,
} from "svc/sdk";
import { startModelProcess } from "./model-process.ts";
import { createModelRuntime, type ModelRuntime } from "./model-runtime.ts";
import { DEFAULT_DIMS, DEFAULT_MODEL, isReference, type ModelSource, parseModelSource } from "./model-source.ts";
import { prefixStyleOf } from "./prefix-style.ts";
import { createLocalProvider } from "./provider.ts";
import { type BorrowedModel, createSharedModels, type WantedModel } from "./shared-models.ts";

export interface LocalAdapterOptions {
  /** Packages of this plugin. */
  vendor: PluginVendor;
  /** Folder that relative paths of the config start from. */
  base: string;
  /** All variables of the process that runs a model. */
  env: Readonly<Record<string, string>>;
  logger: Logger;
  /** Threads a model computes with; default: half of the machine, so that the other half answers. */
  maxThreads?: number;
  /** A model that nobody used for so long is unloaded; default 10 min. */
  idleMs?: number;
}

const LIBRARY = "node-llama-cpp";
const MAX_TOKENS = 2_048;
const IDLE_MS = 600_000;

/** The adapter `local`, and what ends all its models. Agents that use one model share it. */
export function createLocalAdapter(options: LocalAdapterOptions): { adapter: EmbeddingAdapter; close(): Promise<void> } {
  const { base } = options;
  const models = createSharedModels((wanted) => openRuntime(options, wanted));
  const adapter: EmbeddingAdapter = {
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
      await findLibrary(options.vendor);
      const directory = context.local?.modelCacheDir === undefined ? undefined : expandPath(context.local.modelCacheDir, base);
      return opened({ context, source, size, dims, runtime: models.borrow({ source, size, directory }) });
    },
  };
  return { adapter, close: () => models.close() };
}

/** Checks auto-detection: the adapter is chosen only where a model file is named and exists. */
async function checkAuto({ local }: EmbeddingContext, base: string): Promise<void> {
  const named = local?.modelPath?.trim();
  const source = named && !isReference(named) ? parseModelSource(named, base) : undefined;
  const found = source?.kind === "file" ? await stat(source.path).catch(() => undefined) : undefined;
  if (!found?.isFile())
    throw new EmbeddingError("no-credentials", "local: memorySearch.local.modelPath names no model file on this machine");
}

/** @throws {EmbeddingError} `model`; a caller of the gateway must not choose what is read from the disk or downloaded */
function chooseModel({ local, model, config, agentId }: EmbeddingContext, base: string): ModelSource {
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

function checkDims({ outputDimensionality: wanted }: EmbeddingContext, { name }: ModelSource, dims: number | undefined): void {
  if (wanted === undefined || dims === undefined || wanted === dims) return;
  throw new EmbeddingError("invalid-request", `local: ${name} gives ${dims} dimensions, got outputDimensionality ${wanted}; unset it`);
}

/** Looked for at each use: whoever installs it later need not restart anything. */
async function findLibrary(vendor: PluginVendor): Promise<string> {
  try {
    return await vendor.resolve(LIBRARY);
  } catch (cause) {
    throw new EmbeddingError("model", `local: ${messageOf(cause)}; or choose another memorySearch.provider`, { cause });
  }
}

function openRuntime(options: LocalAdapterOptions, { source, directory }: WantedModel): ModelRuntime {
  const maxThreads = options.maxThreads ?? Math.max(1, Math.floor(availableParallelism() / 2));
  const model = source.kind === "file" ? source.path : source.uri;
  return createModelRuntime({
    name: source.name,
    request: { model, ...(directory === undefined ? {} : { directory }), maxThreads, maxTokens: MAX_TOKENS },
    library: () => findLibrary(options.vendor),
    start: (onDownload) =>
      startModelProcess({ name: source.name, env: options.env, onDownload, log: (message) => options.logger.warn(message) }),
    log: (message) => options.logger.info(message),
    idleMs: options.idleMs ?? IDLE_MS,
  });
}

interface OpenedParts {
  context: EmbeddingContext;
  source: ModelSource;
  size: number | undefined;
  dims: number | undefined;
  runtime: BorrowedModel;
}

function opened({ context, source, size, dims, runtime: borrowed }: OpenedParts): OpenedEmbedding {
  const style = prefixStyleOf(source.name);
  const wanted = context.outputDimensionality;
  return {
    provider: createLocalProvider(borrowed, { model: source.name, style, dims, wantedDims: wanted, maxTokens: MAX_TOKENS }),
    identity: { adapter: "local", model: source.name, size, dims: dims ?? wanted, prefix: style.name },
  };
}
