const MAX_WAIT_MS = 3_600_000;

/** The wait a server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date; at most an hour. Header names are lower-case. */
export function retryAfterMs(headers: Record<string, string>, now: number): number | undefined {
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
