import type { LocalSchema } from "svc/sdk";

/** Part of node-llama-cpp 3 that is used. Its own types are not at hand: the package is installed apart from the product. */
export interface LlamaLibrary {
  LlamaLogLevel: { error: string };
  LlamaChat: new (options: { contextSequence: LlamaSequence }) => LlamaChat;
  getLlama(options: {
    gpu: "auto";
    build: "never";
    skipDownload: boolean;
    progressLogs: boolean;
    maxThreads: number;
    logLevel: string;
    logger(level: string, message: string): void;
  }): Promise<Llama>;
  resolveModelFile(uriOrPath: string, options: ResolveOptions): Promise<string>;
}

export interface ResolveOptions {
  directory?: string;
  download: "auto" | false;
  cli: false;
  deleteTempFileOnCancel?: boolean;
  onProgress?(status: { totalSize: number; downloadedSize: number }): void;
  signal?: AbortSignal;
}

export interface Llama {
  gpu: string | false;
  loadModel(options: { modelPath: string }): Promise<LlamaModel>;
  createGrammarForJsonSchema(schema: LocalSchema): Promise<unknown>;
  getGrammarFor(type: "json"): Promise<unknown>;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  embeddingVectorSize: number;
  trainContextSize: number;
  tokenizer: unknown;
  tokenize(text: string, specialTokens: boolean, options: "trimLeadingSpace"): number[];
  createEmbeddingContext(options: { contextSize: { max: number }; threads: number }): Promise<EmbeddingContextOfModel>;
  createContext(options: { contextSize: { max: number }; sequences: number; threads: number }): Promise<LlamaContext>;
  dispose(): Promise<void>;
}

export interface EmbeddingContextOfModel {
  getEmbeddingFor(tokens: number[]): Promise<{ vector: readonly number[] }>;
}

export interface LlamaContext {
  contextSize: number;
  getSequence(): LlamaSequence;
}

export interface LlamaSequence {
  nextTokenIndex: number;
  contextSize: number;
  tokenMeter: { getState(): TokenCounts; diff(since: TokenCounts): TokenCounts };
  compareContextTokens(tokens: number[]): { firstDifferentIndex: number };
  adaptStateToTokens(tokens: number[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: number[]): Promise<void>;
}

export interface TokenCounts {
  usedInputTokens: number;
  usedOutputTokens: number;
}

export interface LlamaChat {
  chatWrapper: {
    generateContextState(options: {
      chatHistory: readonly ChatItem[];
      availableFunctions?: ChatFunctions;
      documentFunctionParams?: boolean;
    }): {
      contextText: { tokenize(tokenizer: unknown): number[] };
    };
  };
  generateResponse(history: readonly ChatItem[], options: GenerateOptions): Promise<ChatResponse>;
}

export type ChatItem = { type: "system" | "user"; text: string } | { type: "model"; response: ChatPart[] };

export type ChatPart =
  | string
  | { type: "segment"; segmentType: "thought"; text: string; ended: true }
  | {
      type: "functionCall";
      name: string;
      description?: string;
      params: unknown;
      result: unknown;
      rawCall?: unknown;
      startsNewChunk: boolean;
    };

export type ChatFunctions = Readonly<Record<string, { description: string; params?: LocalSchema }>>;

export interface GenerateOptions {
  signal: AbortSignal;
  maxTokens: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  minP?: number;
  seed?: number;
  repeatPenalty?: { penalty?: number; frequencyPenalty?: number; presencePenalty?: number };
  customStopTriggers?: string[];
  budgets?: { thoughtTokens: number };
  grammar?: unknown;
  functions?: ChatFunctions;
  documentFunctionParams?: boolean;
  maxParallelFunctionCalls?: number;
  onResponseChunk(chunk: { type?: "segment"; segmentType?: "thought" | "comment"; text: string; tokens: readonly number[] }): void;
  onFunctionCallParamsChunk?(chunk: { callIndex: number; functionName: string; paramsChunk: string }): void;
}

export interface ChatResponse {
  functionCalls?: Array<{ functionName: string; params: unknown; raw: unknown }>;
  metadata: { stopReason: "eogToken" | "stopGenerationTrigger" | "customStopTrigger" | "functionCalls" | "maxTokens" | "abort" };
}
