import { createHash } from "node:crypto";
import { idFault, toWellFormed } from "svc/sdk/internal";
import type { IdempotencyKey } from "../deliveries/accept.ts";

const MAX_KEY_CHARS = 256;

/** Credential that vouched for the request: the token, or the mapping whose signature was found right. Never the secret itself. */
export type Identity = { kind: "token" } | { kind: "mapping"; id: string };

export interface KeySources {
  headers: { get(name: string): string | null };
  payload: unknown;
  /** The sender's own id of this delivery; asked last. */
  deliveryId?: (() => string | undefined) | undefined;
}

/** The key under which a repeat is the same request; one that is blank or too long does not count. */
export function keyOf({ headers, payload, deliveryId }: KeySources): string | undefined {
  return (
    usable(headers.get("idempotency-key")) ??
    usable(headers.get("x-svc-idempotency-key")) ??
    usable(ownText(payload, "idempotencyKey")) ??
    usable(deliveryId?.())
  );
}

/** @param place of the item, in a fan-out: every item is an action of its own */
export function scopedKey(key: string, at: { identity: Identity; path: string; place?: number | undefined }): IdempotencyKey {
  const who = at.identity.kind === "token" ? "token" : `mapping:${at.identity.id}`;
  return { scope: bounded(`${who} ${at.path}`), key: at.place === undefined ? key : bounded(`${key}#${at.place}`) };
}

/** A path may be as long as a request line; what is too long is told apart by its digest. */
function bounded(text: string): string {
  return text.length <= MAX_KEY_CHARS ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function usable(given: string | null | undefined): string | undefined {
  const key = given?.trim();
  return key && key.length <= MAX_KEY_CHARS ? toWellFormed(key) : undefined;
}

/** Says what is wrong with the key that a caller of `agent` or `wake` has chosen itself; undefined: nothing. */
export function ownKeyFault(payload: unknown): string | undefined {
  const key = ownText(payload, "idempotencyKey");
  const fault = key === undefined ? undefined : idFault(key.trim());
  return fault === undefined ? undefined : `idempotencyKey: ${fault}`;
}

function ownText(payload: unknown, name: string): string | undefined {
  if (typeof payload !== "object" || payload === null || !Object.hasOwn(payload, name)) return undefined;
  const value = (payload as Record<string, unknown>)[name];
  return typeof value === "string" ? value : undefined;
}
