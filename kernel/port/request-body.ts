import type { IncomingMessage } from "node:http";
import { commonErrors, messageOf } from "../../sdk/errors.ts";
import { parseJson } from "../../sdk/internal/json-shape.ts";
import { gatherBytes } from "./gathered-bytes.ts";

/** Time a whole body may take. */
const BODY_TIMEOUT_MS = 30_000;

export interface BodyLimits {
  maxBytes: number;
  /** At most, and by default, 30 s. */
  timeoutMs?: number | undefined;
  /** Called when the body is wanted, before the first of it is waited for. */
  proceed?: (() => void) | undefined;
  /** Aborts when the caller may no longer be here; the read then ends with its reason. */
  revoked?: AbortSignal | undefined;
}

/**
 * Reads a request body under a byte limit, whether its length was declared or not. Straight from Node's stream: a web stream over it costs more than all
 * the rest of a small request. A body that was refused is left where it is; whoever answers ends the connection.
 *
 * @throws {SvcError} `payload-too-large`, `request-timeout`, `content-encoding`, `client-gone`, and the reason of `revoked`
 */
export async function readBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { maxBytes, timeoutMs = BODY_TIMEOUT_MS, proceed, revoked } = limits;
  const encoding = req.headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") throw commonErrors.contentEncoding(); // nothing is inflated, so nothing can explode
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) throw commonErrors.payloadTooLarge({ maxBytes });
  revoked?.throwIfAborted();
  if (req.destroyed) throw commonErrors.clientGone();
  if (req.readableEnded) throw new TypeError("the request body was read already");
  proceed?.();
  return collect(req, { maxBytes, limitMs: Math.min(timeoutMs, BODY_TIMEOUT_MS), revoked });
}

function collect(
  req: IncomingMessage,
  { maxBytes, limitMs, revoked }: { maxBytes: number; limitMs: number; revoked: AbortSignal | undefined },
) {
  return new Promise<Buffer>((resolve, reject) => {
    const gathered = gatherBytes();
    let size = 0;
    const leave = () => {
      clearTimeout(timer);
      revoked?.removeEventListener("abort", onRevoked);
      req.off("data", onData).off("end", onEnd).off("close", onGone).off("error", onGone);
    };
    const stop = (reason: unknown) => {
      leave();
      req.pause();
      // A connection that is torn later has nobody else who would take its error.
      req.on("error", () => undefined);
      reject(reason);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) stop(commonErrors.payloadTooLarge({ maxBytes }));
      else gathered.add(chunk);
    };
    const onEnd = () => {
      leave();
      resolve(gathered.joined());
    };
    const onGone = () => stop(commonErrors.clientGone());
    const onRevoked = () => stop(revoked?.reason);
    const timer = setTimeout(() => stop(commonErrors.requestTimeout({ seconds: limitMs / 1000 })), limitMs);
    revoked?.addEventListener("abort", onRevoked, { once: true });
    req.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  });
}

/** @throws {SvcError} `invalid-json`, also for JSON that is nested deeper than 64 levels */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return parseJson(text);
  } catch (error) {
    throw commonErrors.invalidJson({ reason: messageOf(error) });
  }
}
