import { stat } from "node:fs/promises";
import {
  type LocalChat,
  type LocalRuntime,
  type ModelDelta,
  ModelError,
  type ModelProbe,
  type ModelProvider,
  type ModelRequest,
  messageOf,
} from "svc/sdk";
import { toDeltas } from "./deltas.ts";
import { toChatRequest } from "./request.ts";
import type { LocalModelSettings, LocalSettings } from "./settings.ts";

/** The provider `local`, and what gives its models back. */
export interface LocalModelProvider {
  provider: ModelProvider;
  close(): Promise<void>;
}

interface Borrowed {
  size: number | undefined;
  /** Kept before it is there: those who ask meanwhile wait for the same one. */
  asked: Promise<LocalChat>;
  chat?: LocalChat;
}

/** @param runtime finds the service, each time it is wanted @throws {SvcError} while nobody provides it */
export function createLocalModelProvider(settings: LocalSettings, runtime: () => LocalRuntime): LocalModelProvider {
  const { models, firstAnswerMs } = settings;
  const { chatOf, ...borrowed } = createBorrowedChats(runtime);
  let missing: string | undefined;

  /** Why the runtime cannot be used, if so; looks now. */
  const runtimeProblem = async (): Promise<string | undefined> => {
    try {
      await runtime().check();
      missing = undefined;
    } catch (error) {
      missing = messageOf(error);
    }
    return missing;
  };

  async function* stream(req: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelDelta> {
    try {
      signal.throwIfAborted();
      const model = models.find(({ id }) => id === req.model);
      if (!model)
        throw new ModelError(
          "model_not_found",
          `local: there is no model "${req.model}"; models.providers.local.models has ${listOf(models)}`,
        );
      const request = toChatRequest(req, model);
      yield* toDeltas((await chatOf(model)).stream(request, { signal }), req.tools);
    } catch (error) {
      if (signal.aborted) throw new DOMException("the model request was aborted", "AbortError");
      throw error;
    }
  }

  const provider: ModelProvider = {
    id: "local",
    name: "Local models",
    ...(models[0] === undefined ? {} : { defaultModel: models[0].id }),
    firstAnswerMs,
    models: () => models.map(({ id, info }) => ({ ...info, contextWindow: borrowed.contextWindow(id) ?? info.contextWindow ?? 0 })),
    available() {
      // Looked for again, because an installation takes effect without a restart.
      if (missing !== undefined) void runtimeProblem();
      const reason = models.length === 0 ? "models.providers.local.models names no model" : missing;
      return reason === undefined ? { ok: true } : { ok: false, reason };
    },
    async probe(): Promise<ModelProbe> {
      const reason = (await runtimeProblem()) ?? (models[0] && (await sizeOf(models[0]).then(() => undefined, messageOf)));
      return reason === undefined ? { ok: true } : { ok: false, fault: "model_not_found", reason };
    },
    stream: (req, { signal }) => stream(req, signal),
  };
  void runtimeProblem();
  return { provider, close: borrowed.close };
}

/** Models that were borrowed, by their ids. */
function createBorrowedChats(runtime: () => LocalRuntime) {
  const borrowed = new Map<string, Borrowed>();

  /** A file that was replaced is another model, and so is that of another runtime. */
  const chatOf = async (model: LocalModelSettings): Promise<LocalChat> => {
    const size = await sizeOf(model);
    const known = borrowed.get(model.id);
    if (known && known.size === size && !known.chat?.isClosed) return known.asked;
    const chat = await borrow(model, size);
    await known?.asked.then((replaced) => replaced.close(), ignore);
    return chat;
  };

  const borrow = async (model: LocalModelSettings, size: number | undefined): Promise<LocalChat> => {
    // The call may load the plugin first.
    const asked = (async () => runtime().chat({ source: model.source, size, contextWindow: model.contextWindow }))();
    const one: Borrowed = { size, asked };
    borrowed.set(model.id, one);
    try {
      one.chat = await asked;
      return one.chat;
    } catch (error) {
      if (borrowed.get(model.id) === one) borrowed.delete(model.id);
      throw error;
    }
  };

  return {
    chatOf,
    contextWindow: (id: string) => borrowed.get(id)?.chat?.contextWindow(),
    async close() {
      await Promise.all([...borrowed.values()].map(({ asked }) => asked.then((chat) => chat.close(), ignore)));
      borrowed.clear();
    },
  };
}

const ignore = () => undefined;

/** @throws {ModelError} `model_not_found` for a file that is not there */
export async function sizeOf({ id, source }: Pick<LocalModelSettings, "id" | "source">): Promise<number | undefined> {
  if (source.kind === "reference") return undefined;
  const found = await stat(source.path).catch(() => undefined);
  if (found?.isFile()) return found.size;
  throw new ModelError(
    "model_not_found",
    `local: ${source.name}: there is no such file; see modelPath of "${id}" in models.providers.local.models`,
  );
}

function listOf(models: readonly LocalModelSettings[]): string {
  return models.length === 0
    ? "none"
    : models
        .slice(0, 10)
        .map(({ id }) => id)
        .join(", ");
}
