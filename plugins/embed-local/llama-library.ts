/** Part of node-llama-cpp 3 that is used. Its own types are not at hand: the package is installed apart from the product. */
export interface LlamaLibrary {
  LlamaLogLevel: { error: string };
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

interface Llama {
  loadModel(options: { modelPath: string }): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  embeddingVectorSize: number;
  trainContextSize: number;
  tokenize(text: string, specialTokens: boolean, options: "trimLeadingSpace"): number[];
  createEmbeddingContext(options: { contextSize: { max: number }; threads: number }): Promise<EmbeddingContextOfModel>;
}

export interface EmbeddingContextOfModel {
  getEmbeddingFor(tokens: number[]): Promise<{ vector: readonly number[] }>;
}
