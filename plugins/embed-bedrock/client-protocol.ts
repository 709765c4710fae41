import type { JsonObject } from "svc/sdk";
import type { Family } from "./catalogue.ts";
import type { Purpose } from "./families.ts";
import type { RawFailure } from "./raw-failure.ts";

/** Settings of a client; the credentials are in the thread's environment. */
export interface ClientSettings {
  region: string;
  /** Address instead of the region's own. */
  endpoint?: string;
  /** Sent with every request. */
  headers: Record<string, string>;
}

/** One `InvokeModel`. */
export interface EmbedCall {
  modelId: string;
  family: Family;
  purpose: Purpose;
  /** Length to ask for; undefined: the vendor's own choice. */
  dims: number | undefined;
  /** At most as many as the family takes. */
  texts: string[];
}

export interface EmbedReply {
  /** As the vendor answered: count and numbers are not checked. */
  vectors: Float32Array[];
  tokens?: number;
}

/** Maximum size of an answer: 96 vectors of 1,536 numbers in 20 digits each are 3 MB. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** A request that failed on its way. */
export interface RequestFailure {
  name: string;
  message: string;
  /** System code, such as `ECONNRESET`. */
  code?: string;
}

/** A request of the AWS client, for the main thread to send; or, with `leave`, the word that its response is no longer awaited. */
export type ThreadHttp =
  | { http: number; url: string; method: string; headers: Readonly<Record<string, string>>; body: string | Uint8Array | undefined }
  | { http: number; leave: true };

/** A part of the response. */
export type ThreadExchange =
  | { http: number; head: { status: number; headers: Record<string, string> } }
  | { http: number; chunk: Uint8Array }
  | { http: number; end: true }
  | { http: number; failure: RequestFailure };

/** Call of a thread: an embedding, one turn of a conversation (the input of `ConverseStream`), or whether there are credentials. */
export type ThreadCall = { embed: EmbedCall } | { converse: JsonObject } | { credentials: true };

export type ThreadRequest = ({ id: number } & ThreadCall) | { abort: number } | ThreadExchange;

export type ThreadMessage =
  | { id: number; reply: EmbedReply | { resolved: true } }
  /** An event of a turn; a reply follows the last one. */
  | { id: number; event: JsonObject }
  | { id: number; failure: RawFailure }
  | { warning: string }
  | ThreadHttp;
