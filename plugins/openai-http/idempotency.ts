import { createHash, randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpCall, PluginContext, RunHandle, SvcConfig } from "svc/sdk";
import { badRequest } from "./errors.ts";
import { placeHeaders } from "./place.ts";

/** Longest key. */
const MAX_KEY_CHARS = 256;
/** Bytes hashed before the others get their turn. */
const SLICE_BYTES = 1024 * 1024;

/** Headers that decide what a request means or may do. */
const decidingHeaders = ["x-svc-session-key", "x-svc-agent-id", "x-svc-model", "x-svc-scopes", ...placeHeaders];

/** The id of a request; a repeat under the same key has the same one. */
export interface RequestId {
  uuid: string;
  isKeyed: boolean;
}

/**
 * The id of a request: that of its idempotency key (`Idempotency-Key`, then `x-svc-idempotency-key`) with its caller, path, deciding headers and body, so that
 * the same key with another body is a new request. Without a key each request has a fresh one.
 * @throws {SvcError} `v1-bad-request` for a key that is too long
 */
export async function requestIdOf(call: HttpCall, config: SvcConfig): Promise<RequestId> {
  const key = keyOf(call.req.headers);
  if (key === undefined) return { uuid: randomUUID(), isKeyed: false };
  const { headers } = call.req;
  const deciding = decidingHeaders.map((name) => headers.get(name));
  const hash = createHash("sha256").update(JSON.stringify([call.url.pathname, callerOf(headers, config), key, deciding]));
  const body = await call.bytes();
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    hash.update(body.subarray(at, at + SLICE_BYTES));
    if (at > 0) await nextTurn();
  }
  return { uuid: toUuid(hash.digest("hex")), isKeyed: true };
}

/** The run of an earlier request under the same key. */
export async function repeatedRun(id: string, { scopes }: HttpCall, ctx: PluginContext): Promise<RunHandle | undefined> {
  if (!(await ctx.service("store@2").runs.get(id))) return undefined;
  return ctx.service("agents@1").run({ runId: id, message: "", trigger: "user", actor: { kind: "http", scopes } });
}

export function isRepeat({ state }: RunHandle): boolean {
  return state === "in_flight" || state === "finished";
}

/** A UUID that is always the same for the same text. */
export function uuidOf(text: string): string {
  return toUuid(createHash("sha256").update(text).digest("hex"));
}

/** The credential of a request: its bearer token, and the user that a proxy names. A secret: hash it before it is kept. */
export function callerOf(headers: Headers, { gateway: { auth } }: SvcConfig): string {
  const { userHeader } = auth.trustedProxy;
  const user = auth.mode === "trusted-proxy" && userHeader !== undefined ? headers.get(userHeader) : null;
  return JSON.stringify([headers.get("authorization"), user]);
}

function keyOf(headers: Headers): string | undefined {
  for (const name of ["Idempotency-Key", "x-svc-idempotency-key"]) {
    const key = headers.get(name)?.trim() ?? "";
    if (key.length > MAX_KEY_CHARS) throw badRequest(`${name}: expected at most ${MAX_KEY_CHARS} characters, received ${key.length}`);
    if (key !== "") return key;
  }
  return undefined;
}

/** The first 128 bits of a digest in the form of a UUID of version 8. */
function toUuid(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20, 32)].join("-");
}
