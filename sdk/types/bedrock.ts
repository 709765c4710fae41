import type { JsonObject, Logger } from "./common.ts";

/** Service `bedrock@1`: conversations with the models of Amazon Bedrock, over the AWS client and its credential chain, outside the main thread. */
export interface Bedrock {
  /** Nothing is loaded and nobody is asked before the first turn. */
  open(options: BedrockOptions): Promise<BedrockConnection>;
}

/** Place and credentials of a connection. */
export interface BedrockOptions {
  /** Address instead of the region's own. */
  baseUrl?: string;
  /** API key of Bedrock; absent: requests are signed with what the credential chain finds. */
  apiKey?: string;
  /** Sent, and signed, with every request; names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Longest wait for the head of an answer, and longest silence within it. */
  silenceMs: number;
  logger: Logger;
}

/** A connection; plugins that open one close it. */
export interface BedrockConnection {
  /**
   * One turn: the events of `ConverseStream` as the vendor sends them.
   * @param input input of `ConverseStream` (docs.aws.amazon.com/bedrock, "ConverseStream"); bytes as `Uint8Array`
   * @throws {BedrockFailure}, or the signal's reason; leaving it early ends the request
   */
  converse(input: JsonObject, signal: AbortSignal): AsyncIterable<JsonObject>;
  close(): Promise<void>;
}

/** An error with the reason why a call failed; no credential is in it. */
export interface BedrockFailure extends Error {
  failure: {
    /** The vendor's name of the error, or that of its package; empty for others. */
    name: string;
    /** One line. */
    message: string;
    /** System code, such as `ECONNRESET`. */
    code?: string;
    /** Status of the answer, when it was not a success. */
    status?: number;
    /** The header of that name. */
    retryAfter?: string;
  };
}
