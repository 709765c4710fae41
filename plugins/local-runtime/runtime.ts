import { availableParallelism } from "node:os";
import {
  type HttpRequestFunction,
  isSvcError,
  type LocalChatOptions,
  type LocalEmbedderOptions,
  type LocalModelSource,
  type LocalRuntime,
  type Logger,
  type PluginVendor,
} from "svc/sdk";
import { createChatModel, SEQUENCES } from "./chat-model.ts";
import { ModelFiles } from "./download/model-files.ts";
import { createEmbedModel } from "./embed-model.ts";
import { runtimeErrors } from "./errors.ts";
import type { ModelUse } from "./messages.ts";
import type { ModelLifeOptions } from "./model-life.ts";
import { createProcessOwner } from "./process-owner.ts";
import { startRuntimeProcess } from "./runtime-process.ts";
import { createSharedModels } from "./shared-models.ts";

export interface LocalRuntimeOptions {
  /** Packages of this plugin. */
  vendor: PluginVendor;
  /** All variables of the process that runs the models. */
  env: Readonly<Record<string, string>>;
  logger: Logger;
  /** Threads that models compute with; default: half of the machine, so that the other half answers. */
  maxThreads?: number;
  /** A model that nobody used for so long is unloaded; default 10 min. */
  idleMs?: number;
  /** For downloads. */
  request: HttpRequestFunction;
  /** Pause before a download that was cut goes on; default a second. */
  pauseMs?: number;
}

const LIBRARY = "node-llama-cpp";
const IDLE_MS = 600_000;
/** Half a minute for a model of some hundred MB from a slow disk, and then as much again; models for chat are ten times as large. */
const LOAD_EMBED_MS = 60_000;
const LOAD_CHAT_MS = 600_000;

/** The service `local-runtime@1`, and what ends all its models. */
export function createLocalRuntime(options: LocalRuntimeOptions): { runtime: LocalRuntime; close(): Promise<void> } {
  const { vendor, env, logger, request, pauseMs } = options;
  const files = new ModelFiles({ request, env, ...(pauseMs === undefined ? {} : { pauseMs }) });
  const owner = createProcessOwner(() => startRuntimeProcess({ env, log: (message) => logger.warn(message) }));
  const lifeOf = (
    source: LocalModelSource,
    { use, loadMs, directory, sha256 }: { use: ModelUse; loadMs: number; directory?: string | undefined; sha256?: string | undefined },
  ): ModelLifeOptions => ({
    name: source.name,
    request: {
      model: source.kind === "file" ? source.path : source.uri,
      ...(directory === undefined ? {} : { directory }),
      maxThreads: options.maxThreads ?? Math.max(1, Math.floor(availableParallelism() / 2)),
      use,
    },
    loadMs,
    library: () => findLibrary(vendor),
    ...(source.kind === "file" ? {} : { locate: (how) => files.locate(source, { ...how, directory, sha256 }) }),
    model: () => owner.model(),
    log: (message) => logger.info(message),
    idleMs: options.idleMs ?? IDLE_MS,
  });
  const embedders = createSharedModels(({ source, directory, sha256, maxTokens }: LocalEmbedderOptions) =>
    createEmbedModel(lifeOf(source, { use: { kind: "embed", maxTokens }, loadMs: LOAD_EMBED_MS, directory, sha256 })),
  );
  const chats = createSharedModels(({ source, contextWindow }: LocalChatOptions) =>
    createChatModel(lifeOf(source, { use: { kind: "chat", contextWindow, sequences: SEQUENCES }, loadMs: LOAD_CHAT_MS })),
  );
  const runtime: LocalRuntime = {
    check: async () => void (await findLibrary(vendor)),
    download: (model, how) => files.download(model, how),
    embedder(wanted) {
      const { model, release } = embedders.acquire(wanted);
      return { embed: (text, how) => model.embed(text, how), close: release };
    },
    chat(wanted) {
      const { model, release } = chats.acquire(wanted);
      return {
        stream: (request, how) => model.stream(request, how),
        contextWindow: () => model.contextWindow(),
        get isClosed() {
          return model.isClosed;
        },
        close: release,
      };
    },
  };
  return { runtime, close: async () => void (await Promise.all([embedders.close(), chats.close()])) };
}

/** Looked for at each use: whoever installs it later need not restart anything. */
async function findLibrary(vendor: PluginVendor): Promise<string> {
  try {
    return await vendor.resolve(LIBRARY);
  } catch (cause) {
    if (!isSvcError(cause, "missing-dependency")) throw cause;
    throw runtimeErrors.localRuntimeMissing({ name: LIBRARY, problem: cause.fields.problem }, { cause });
  }
}
