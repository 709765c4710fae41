import type { KeyObject } from "node:crypto";
import type { Mapping } from "../mappings/mapping.ts";

export type VerifyConfig = NonNullable<Mapping["verify"]>;

/** Header values by lower-case name; several of one name are joined by `, `, as the port does it. */
export type Headers = Readonly<Record<string, string>>;

/** Key made from a secret of the config. */
export type Key = { kind: "hmac"; bytes: Uint8Array } | { kind: "ed25519"; key: KeyObject };

/** One signature that the sender gave. */
export interface Signature {
  kind: Key["kind"];
  bytes: Uint8Array;
}

/** Claim of a request's headers about its body. */
export interface Claim {
  /** Text that was signed before the body. */
  before: string;
  signatures: readonly Signature[];
  /** Unix seconds, as sent; `undefined` only where the scheme has no time. */
  timestamp?: string;
}

/** Signature scheme of one sender. */
export interface Scheme {
  readonly secretHeaders: readonly string[];
  /** `undefined`: nothing that could be a key of this scheme; such a secret opens nothing. */
  keyOf(secret: string): Key | undefined;
  /** `undefined`: a header that the scheme needs is missing. */
  claimOf(headers: Headers): Claim | undefined;
  answer?(request: { headers: Headers; payload: unknown }): { status: 200 | 204; body?: string } | undefined;
  /** As sent; the caller looks whether it is a usable text. */
  deliveryId(request: { headers: Headers; payload: unknown }): unknown;
}

/** A header that is there and not blank. */
export function present(headers: Headers, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name]?.trim() : undefined;
  return value === "" ? undefined : value;
}

/** Member of a JSON object; `undefined` for anything inherited and for any other payload. */
export function member(payload: unknown, name: string): unknown {
  if (typeof payload !== "object" || payload === null || !Object.hasOwn(payload, name)) return undefined;
  return (payload as Record<string, unknown>)[name];
}

/** A secret whose text itself is the key. */
export function textKey(secret: string): Key | undefined {
  return secret.trim() === "" ? undefined : { kind: "hmac", bytes: Buffer.from(secret) };
}
