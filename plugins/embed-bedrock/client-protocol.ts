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

export type ThreadRequest = { id: number; embed: EmbedCall } | { id: number; credentials: true } | { abort: number };

export type ThreadMessage =
  | { id: number; reply: EmbedReply | { resolved: true } }
  | { id: number; failure: RawFailure }
  | { warning: string };
