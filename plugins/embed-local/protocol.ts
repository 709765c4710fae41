/** Messages between the process that runs a model and its owner. */

export interface OpenRequest {
  /** Module of the model library, as a `file:` address. */
  library: string;
  /** Absolute path, or what the library downloads. */
  model: string;
  /** Folder of downloaded models; unset: the library's own folder. */
  directory?: string;
  /** Whether the model may be downloaded when it is not there. */
  download: boolean;
  maxThreads: number;
  /** Longer texts are cut. */
  maxTokens: number;
}

export interface OpenedModel {
  dims: number;
  maxTokens: number;
}

/** `not-ready`: the model would have to be downloaded. */
export interface ModelFault {
  fault: "not-ready" | "model" | "auth" | "network" | "invalid-request" | "too-long" | "bad-response";
  message: string;
}

export type ToProcess = { open: OpenRequest } | { embed: string } | { close: true };

export type FromProcess =
  | { downloading: { doneBytes: number; totalBytes: number } }
  | { opened: OpenedModel }
  | { vector: Float32Array }
  | { failed: ModelFault }
  | { log: string };
