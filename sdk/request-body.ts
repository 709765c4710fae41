import { messageOf, SvcError } from "./errors.ts";
import { withLimit } from "./limit.ts";

/** Time a whole body may take (`http.md` 2). */
const BODY_TIMEOUT_MS = 30_000;

/**
 * Reads a request body as text under a byte limit, whether its length was declared or not.
 *
 * @param revoked aborts when the caller may no longer be here; the read then ends with its reason
 * @throws {SvcError} `payload-too-large`, `request-timeout`, `content-encoding`, and the reason of `revoked`
 */
export async function readBodyText(req: Request, maxBytes: number, revoked?: AbortSignal): Promise<string> {
  const encoding = req.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") throw new SvcError("content-encoding"); // nothing is inflated, so nothing can explode
  const declared = Number(req.headers.get("content-length") ?? 0);
  if (declared > maxBytes) throw new SvcError("payload-too-large", { maxBytes });
  if (!req.body) return "";
  return withLimit(whileValid(collect(req.body, maxBytes), revoked), BODY_TIMEOUT_MS, () => {
    throw new SvcError("request-timeout", { seconds: BODY_TIMEOUT_MS / 1000 });
  });
}

/** The work, but no longer than the signal lasts. */
async function whileValid<T>(work: Promise<T>, revoked: AbortSignal | undefined): Promise<T> {
  if (!revoked) return work;
  revoked.throwIfAborted();
  work.catch(() => undefined);
  return new Promise((resolve, reject) => {
    const ended = () => reject(revoked.reason);
    revoked.addEventListener("abort", ended, { once: true });
    void work.then(resolve, reject).finally(() => revoked.removeEventListener("abort", ended));
  });
}

async function collect(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (size > maxBytes) throw new SvcError("payload-too-large", { maxBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

/** @throws {SvcError} `invalid-json` */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SvcError("invalid-json", { reason: messageOf(error) });
  }
}
