import type { EmbeddingContextOfModel, LlamaLibrary, LlamaModel } from "./llama-library.ts";
import type { FromProcess, ModelFault, OpenRequest, ToProcess } from "./protocol.ts";

/**
 * The process that runs one model. A process and not a thread: importing the library blocks for 100 ms, a model file that is no good can end what runs
 * it, and the memory of a model comes back for certain when its process goes.
 */

interface Loaded {
  model: LlamaModel;
  context: EmbeddingContextOfModel;
  maxTokens: number;
  dispose(): Promise<void>;
}

/** Begin and end mark of a text, and one to spare: the library wants fewer tokens than the context holds. */
const RESERVED_TOKENS = 3;

const stop = new AbortController();
let loaded: Loaded | undefined;

process.on("message", (message: ToProcess) => void receive(message));
// The owner is gone, with a word or without: threads of the model that still compute are not waited for.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

async function receive(message: ToProcess): Promise<void> {
  if ("close" in message) return close();
  try {
    if ("open" in message) await open(message.open);
    else tell({ vector: await embed(message.embed) });
  } catch (error) {
    tell({ failed: faultOf(error) });
  }
}

function tell(message: FromProcess): void {
  if (process.connected) process.send?.(message);
}

async function open(request: OpenRequest): Promise<void> {
  loaded ??= await load(request);
  tell({ opened: { dims: loaded.model.embeddingVectorSize, maxTokens: loaded.maxTokens } });
}

async function load(request: OpenRequest): Promise<Loaded> {
  const library = await found("the model library cannot be loaded", () => import(request.library) as Promise<LlamaLibrary>);
  const modelPath = await findModel(library, request);
  const { maxThreads } = request;
  const llama = await found("the model library has no build for this machine; choose another provider", () =>
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
  try {
    const model = await found("the model file cannot be loaded", () => llama.loadModel({ modelPath }));
    const contextSize = { max: Math.min(request.maxTokens, model.trainContextSize) };
    const context = await found("the model gives no embeddings", () => model.createEmbeddingContext({ contextSize, threads: maxThreads }));
    return { model, context, maxTokens: contextSize.max, dispose: () => llama.dispose() };
  } catch (error) {
    await llama.dispose();
    throw error;
  }
}

/** Path of the model file; downloads it only on request. */
async function findModel(library: LlamaLibrary, { model, directory, download }: OpenRequest): Promise<string> {
  const where = { ...(directory === undefined ? {} : { directory }), cli: false } as const;
  try {
    return await library.resolveModelFile(model, { ...where, download: false });
  } catch (error) {
    if (!download) throw new Fault("not-ready", messageOf(error));
  }
  tell({ downloading: { doneBytes: 0, totalBytes: 0 } });
  const onProgress = ({ downloadedSize, totalSize }: { downloadedSize: number; totalSize: number }) =>
    tell({ downloading: { doneBytes: downloadedSize, totalBytes: totalSize } });
  try {
    // A cancelled download keeps its bytes: the next attempt resumes from there.
    return await library.resolveModelFile(model, {
      ...where,
      download: "auto",
      deleteTempFileOnCancel: false,
      onProgress,
      signal: stop.signal,
    });
  } catch (error) {
    throw new Fault(downloadFault(error), `the model cannot be downloaded: ${messageOf(error)}`);
  }
}

async function embed(text: string): Promise<Float32Array> {
  if (!loaded) throw new Fault("model", "the model is not open");
  const { model, context, maxTokens } = loaded;
  const tokens = model.tokenize(text, false, "trimLeadingSpace").slice(0, maxTokens - RESERVED_TOKENS);
  if (tokens.length === 0) throw new Fault("invalid-request", "the text is empty; a text without a word has no vector");
  const { vector } = await context.getEmbeddingFor(tokens);
  if (vector.length !== model.embeddingVectorSize || !vector.every(Number.isFinite)) {
    throw new Fault("bad-response", `the model gave ${vector.length} numbers or one that is none; expected ${model.embeddingVectorSize}`);
  }
  return Float32Array.from(vector);
}

async function close(): Promise<void> {
  stop.abort(new Error("it was stopped"));
  await loaded?.dispose().catch(() => undefined);
  process.exit(0);
}

class Fault extends Error {
  readonly fault: ModelFault["fault"];
  constructor(fault: ModelFault["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

async function found<T>(what: string, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    throw new Fault("model", `${what}: ${messageOf(error)}`);
  }
}

function faultOf(error: unknown): ModelFault {
  if (error instanceof Fault) return { fault: error.fault, message: error.message };
  const message = messageOf(error);
  return { fault: /longer than the (usable )?context/i.test(message) ? "too-long" : "bad-response", message };
}

function downloadFault(error: unknown): ModelFault["fault"] {
  const status = statusOf(error);
  if (status === 401 || status === 403) return "auth";
  return status === 404 ? "model" : "network";
}

/** The library's downloader puts the number into one of several places. */
function statusOf(error: unknown): number | undefined {
  const { statusCode, status, message = "" } = (error ?? {}) as { statusCode?: unknown; status?: unknown; message?: string };
  if (typeof statusCode === "number") return statusCode;
  if (typeof status === "number") return status;
  const told = /status(?: code)?:? (\d{3})\b/i.exec(message)?.[1];
  return told === undefined ? undefined : Number(told);
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return withoutCredentials(text).replaceAll(/\s+/g, " ").trim().slice(0, 500);
}

/** Addresses in messages of the library are the whole ones: a signature or a password may be in them. */
function withoutCredentials(text: string): string {
  return text.replaceAll(/(https?:\/\/)(?:[^\s/@?]*@)?([^\s?#,]*)(?:[?#][^\s,]*)?/gi, "$1$2");
}
