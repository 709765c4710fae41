const MAX_WAIT_MS = 3_600_000;

/**
 * The wait a server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3); 0 to an hour, undefined when it asks for none.
 * @param headers names in lower case
 * @param now wall clock in epoch ms
 */
export function retryAfterMs(headers: Readonly<Record<string, string | undefined>>, now: number): number | undefined {
  const ms = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (Number.isFinite(ms)) return clamp(ms);
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return clamp(Number(text) * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : clamp(date - now);
}

function clamp(ms: number): number {
  return Math.round(Math.min(Math.max(ms, 0), MAX_WAIT_MS));
}
