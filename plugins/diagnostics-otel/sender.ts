import { backoffDelayMs, messageOf, type PluginContext, retryAfterMs, sleep } from "svc/sdk";

/** Time limit of one request. */
const REQUEST_MS = 10_000;
/** Tries of one batch; after them it is dropped. */
const MAX_TRIES = 5;
const backoff = { firstMs: 1_000, maxMs: 30_000 };
/** Answers after which the same request may succeed later, by the protocol. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_ANSWER_CHARS = 10_000;

/** End of a request; `rejected` parts were refused by a collector that took the rest. */
export type Sent = { state: "sent"; rejected: number; reason?: string } | { state: "dropped"; reason: string };

export interface SenderOptions {
  ctx: Pick<PluginContext, "request" | "clock" | "timers">;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Sends one body to a collector; tries again where the protocol says so. Never rejects. */
export async function send(url: string, body: object, { ctx, headers, signal }: SenderOptions): Promise<Sent> {
  const text = JSON.stringify(body);
  let reason = "";
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const answer = await post(url, text, { ctx, headers, signal });
    if ("state" in answer) return answer;
    reason = answer.reason;
    if (signal.aborted || attempt === MAX_TRIES) break;
    const waitMs = Math.min(backoff.maxMs, answer.waitMs ?? backoffDelayMs(attempt, backoff));
    await sleep(waitMs, signal, ctx.timers).catch(() => undefined);
    if (signal.aborted) break;
  }
  return { state: "dropped", reason };
}

/** One try; `reason` without a state: it may succeed later. */
async function post(
  url: string,
  text: string,
  { ctx, headers, signal }: SenderOptions,
): Promise<Sent | { reason: string; waitMs?: number }> {
  try {
    const response = await ctx.request(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: text,
      signal,
      timeoutMs: REQUEST_MS,
    });
    const answer = await readText(response.body);
    if (response.status >= 200 && response.status < 300) return { state: "sent", ...rejectedOf(answer) };
    const reason = `the collector answered ${response.status}`;
    if (!retryable.has(response.status)) return { state: "dropped", reason };
    const waitMs = retryAfterMs(response.headers, ctx.clock.now());
    return { reason, ...(waitMs === undefined ? {} : { waitMs }) };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

async function readText(body: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  // The rest is read as well, so that the connection can be used again.
  for await (const chunk of body) if (text.length < MAX_ANSWER_CHARS) text += String(chunk);
  return text;
}

/** `partialSuccess` of an answer: a collector may refuse some of what it was sent. */
function rejectedOf(answer: string): { rejected: number; reason?: string } {
  try {
    const { partialSuccess } = JSON.parse(answer || "{}") as { partialSuccess?: Record<string, unknown> };
    const rejected = Number(partialSuccess?.rejectedSpans ?? partialSuccess?.rejectedDataPoints ?? 0);
    const reason = partialSuccess?.errorMessage;
    return { rejected: Number.isFinite(rejected) ? rejected : 0, ...(typeof reason === "string" && reason !== "" ? { reason } : {}) };
  } catch {
    return { rejected: 0 };
  }
}
