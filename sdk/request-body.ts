import { messageOf, SvcError } from "./errors.ts";

/** Time a whole body may take (`http.md` 2). */
const BODY_TIMEOUT_MS = 30_000;

/**
 * Reads a request body as text under a byte limit, whether its length was declared or not.
 * @throws {SvcError} `payload-too-large`, `request-timeout`
 */
export async function readBodyText(req: Request, maxBytes: number): Promise<string> {
  const declared = Number(req.headers.get("content-length") ?? 0);
  if (declared > maxBytes) throw new SvcError("payload-too-large", { maxBytes });
  if (!req.body) return "";
  const reader = req.body.getReader();
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SvcError("request-timeout", { seconds: BODY_TIMEOUT_MS / 1000 })), BODY_TIMEOUT_MS);
  });
  limit.catch(() => undefined);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), limit]);
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) throw new SvcError("payload-too-large", { maxBytes });
      chunks.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
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
