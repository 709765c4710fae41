import type { HookRequest, HooksConfig, Resolved } from "./action.ts";

/** Everything that one config says about webhooks; replaced as a whole, never changed. */
export interface Ingress {
  /** Grows with each replacement; a request that meets another one at its end is answered 409. */
  readonly generation: number;
  readonly hooks: HooksConfig;
  /** Direct and mapped actions of this config; at once where nobody has to be waited for. Never fails for what a payload holds. */
  resolve(request: HookRequest, signal: AbortSignal): Promise<Resolved> | Resolved;
  /** The mapping with `verify` that owns this path, if one does. */
  verifierOf(path: string): Verifier | undefined;
  /** Largest body of this path. */
  maxBodyBytes(path: string): number;
  dispose(): void;
}

/** Judges the signature of one sender. */
export interface Verifier {
  readonly mapping: string;
  readonly provider: "github" | "stripe" | "slack" | "standard-webhooks" | "hmac";
  readonly mode: "with-token" | "instead";
  /** Lower-case names of headers that hold a signature or a secret of this scheme; templates and transforms do not see them. */
  readonly secretHeaders: readonly string[];
  /** @param now epoch ms. Pure, constant time where secrets are compared; a large body is judged in slices, so that nobody else waits for it. */
  verify(request: { headers: Readonly<Record<string, string>>; body: Uint8Array; now: number }): Promise<Verified>;
  /** Answer to the sender instead of an action: a ping, a challenge. Asked after the signature was found right. */
  answer(request: { headers: Readonly<Record<string, string>>; payload: unknown }): { status: 200 | 204; body?: string } | undefined;
  /** The sender's id of this delivery, if the payload or the headers tell one. */
  deliveryId(request: { headers: Readonly<Record<string, string>>; payload: unknown }): string | undefined;
}

/** `reason` is for the log; the caller gets 401. */
export type Verified = { ok: true } | { ok: false; reason: "missing_header" | "timestamp_out_of_tolerance" | "no_match" };
