import type { LocalChatPiece, LocalChatRequest } from "svc/sdk";

/** Messages between the process that runs models and its owner. */

export interface OpenRequest {
  /** Name of the model in the other calls. */
  key: string;
  /** Module of the model library, as a `file:` address. */
  library: string;
  /** Absolute path, or what the library downloads. */
  model: string;
  /** Folder of downloaded models; unset: the library's own folder. */
  directory?: string;
  /** Whether the model may be downloaded when it is not there. */
  download: boolean;
  /** Threads of all models together; the first model decides. */
  maxThreads: number;
  use: ModelUse;
}

/** `maxTokens`: longer texts are cut. `sequences`: conversations that are remembered, and answered at a time. */
export type ModelUse = { kind: "embed"; maxTokens: number } | { kind: "chat"; contextWindow: number; sequences: number };

export interface OpenedModel {
  /** Length of a vector. */
  dims: number;
  /** Tokens of a text, or of prompt and answer together. */
  maxTokens: number;
}

/** `not-ready`: the model would have to be downloaded. */
export interface ProcessFault {
  fault: "not-ready" | "model" | "auth" | "network" | "invalid-request" | "too-long" | "bad-response" | "aborted";
  message: string;
}

export type ProcessCall =
  | { open: OpenRequest }
  | { unload: string }
  | { embed: string; text: string }
  | { chat: string; request: LocalChatRequest };

export type ToProcess = { id: number; call: ProcessCall } | { abort: number } | { close: true };

/** `loading`: the file is there and is read into memory from now on; `reading`: a part of a long prompt was read. */
export type Progress = { doneBytes: number; totalBytes: number } | { loading: true } | { piece: LocalChatPiece } | { reading: true };

export type FromProcess =
  | { id: number; progress: Progress }
  | { id: number; done: OpenedModel | { vector: Float32Array } | { finished: true } }
  | { id: number; failed: ProcessFault }
  | { log: string };
