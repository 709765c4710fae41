import { createChat, type LoadedChat } from "./chat-turns.ts";
import { Fault, faultOf, found } from "./fault.ts";
import { findModel } from "./find-model.ts";
import type { EmbeddingContextOfModel, Llama, LlamaLibrary, LlamaModel } from "./llama-library.ts";
import type { FromProcess, OpenedModel, OpenRequest, Progress, ToProcess } from "./messages.ts";

/**
 * The process that runs models. A process and not a thread: importing the library blocks for 100 ms, a model file that is no good can end what runs
 * it, and the memory of a model comes back for certain when its process goes.
 */

interface Loaded {
  model: LlamaModel;
  opened: OpenedModel;
  embedding?: EmbeddingContextOfModel;
  chat?: LoadedChat;
}

interface Running {
  signal: AbortSignal;
  progress(progress: Progress): void;
}

/** Begin and end mark of a text, and one to spare: the library wants fewer tokens than the context holds. */
const RESERVED_TOKENS = 3;

const models = new Map<string, Loaded>();
const running = new Map<number, AbortController>();
/** Calls that open a model now, by its key. */
const opening = new Map<string, AbortController>();
let llama: Promise<Llama> | undefined;

process.on("message", (message: ToProcess) => void receive(message));
// The owner is gone, with a word or without: threads of a model that still compute are not waited for.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

async function receive(message: ToProcess): Promise<void> {
  if ("close" in message) return close();
  if ("abort" in message) return stop(running.get(message.abort));
  const { id, call } = message;
  const abort = new AbortController();
  running.set(id, abort);
  if ("open" in call) opening.set(call.open.key, abort);
  const run: Running = { signal: abort.signal, progress: (progress) => tell({ id, progress }) };
  try {
    tell({ id, done: await execute(call, run) });
  } catch (error) {
    tell({ id, failed: faultOf(run.signal.aborted ? run.signal.reason : error) });
  } finally {
    running.delete(id);
    if ("open" in call) opening.delete(call.open.key);
  }
}

async function execute(
  call: Extract<ToProcess, { id: number }>["call"],
  run: Running,
): Promise<Extract<FromProcess, { done: unknown }>["done"]> {
  if ("open" in call) return open(call.open, run);
  if ("embed" in call) return { vector: await embed(loadedAs(call.embed), call.text) };
  if ("chat" in call) await loadedAs(call.chat).chat?.answer(call.request, run);
  else await unload(call.unload);
  return { finished: true };
}

function tell(message: FromProcess): void {
  if (process.connected) process.send?.(message);
}

function loadedAs(key: string): Loaded {
  const loaded = models.get(key);
  if (loaded) return loaded;
  throw new Fault("model", "the model is not open");
}

async function open(request: OpenRequest, run: Running): Promise<OpenedModel> {
  const loaded = models.get(request.key) ?? (await load(request, run));
  if (run.signal.aborted) {
    // Nobody wants it any more, and a loading cannot be stopped.
    await loaded.model.dispose();
    throw run.signal.reason;
  }
  models.set(request.key, loaded);
  return loaded.opened;
}

async function load(request: OpenRequest, run: Running): Promise<Loaded> {
  const library = await found("the model library cannot be loaded", () => import(request.library) as Promise<LlamaLibrary>);
  const modelPath = await findModel(library, request, { signal: run.signal, onDownload: run.progress });
  run.progress({ loading: true });
  const { maxThreads: threads, use } = request;
  const engine = await startedLibrary(library, threads);
  const model = await found("the model file cannot be loaded", () => engine.loadModel({ modelPath }));
  try {
    if (use.kind === "chat") return await loadChat({ library, llama: engine, model, threads }, use);
    const maxTokens = Math.min(use.maxTokens, model.trainContextSize);
    const embedding = await found("the model gives no embeddings", () =>
      model.createEmbeddingContext({ contextSize: { max: maxTokens }, threads }),
    );
    return { model, embedding, opened: { dims: model.embeddingVectorSize, maxTokens } };
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

interface Parts {
  library: LlamaLibrary;
  llama: Llama;
  model: LlamaModel;
  threads: number;
}

async function loadChat(parts: Parts, use: Extract<OpenRequest["use"], { kind: "chat" }>): Promise<Loaded> {
  const { model, threads } = parts;
  const contextSize = { max: Math.min(use.contextWindow, model.trainContextSize) };
  const chat = await found("there is no memory for a conversation, or the model is none for chat; lower its contextWindow", async () => {
    const context = await model.createContext({ contextSize, sequences: use.sequences, threads });
    return createChat({ ...parts, context, sequences: use.sequences });
  });
  return { model, chat, opened: { dims: model.embeddingVectorSize, maxTokens: chat.contextWindow } };
}

/** One for all models, so that they share its threads. */
async function startedLibrary(library: LlamaLibrary, maxThreads: number): Promise<Llama> {
  llama ??= found("the model library has no build for this machine; choose another provider", () =>
    library.getLlama({
      gpu: "auto",
      build: "never",
      skipDownload: true,
      progressLogs: false,
      maxThreads,
      logLevel: library.LlamaLogLevel.error,
      logger: (_level, text) => tell({ log: text.trim() }),
    }),
  );
  return llama;
}

async function embed({ model, embedding, opened }: Loaded, text: string): Promise<Float32Array> {
  const tokens = model.tokenize(text, false, "trimLeadingSpace").slice(0, opened.maxTokens - RESERVED_TOKENS);
  if (tokens.length === 0) throw new Fault("invalid-request", "the text is empty; a text without a word has no vector");
  const { vector } = (await embedding?.getEmbeddingFor(tokens)) ?? { vector: [] };
  if (vector.length !== model.embeddingVectorSize || !vector.every(Number.isFinite)) {
    throw new Fault("bad-response", `the model gave ${vector.length} numbers or one that is none; expected ${model.embeddingVectorSize}`);
  }
  return Float32Array.from(vector);
}

/** A model that is still being fetched or loaded is not waited for: its download ends, and it goes as soon as it is loaded. */
async function unload(key: string): Promise<void> {
  stop(opening.get(key));
  const loaded = models.get(key);
  models.delete(key);
  await loaded?.model.dispose();
}

function stop(one: AbortController | undefined): void {
  one?.abort(new Fault("aborted", "it was stopped"));
}

async function close(): Promise<void> {
  for (const one of running.values()) stop(one);
  await (await llama)?.dispose().catch(() => undefined);
  process.exit(0);
}
