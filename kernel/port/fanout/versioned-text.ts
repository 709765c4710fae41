/**
 * The JSON of something that changes seldom and is asked for often.
 * @param maxAgeMs it is recreated after this time also without a new version, for what changes with the clock
 */
export function createVersionedText(source: { version(): number; value(): unknown; monotonic(): number; maxAgeMs: number }): () => string {
  let kept: { version: number; at: number; text: string } | undefined;
  return () => {
    const [version, now] = [source.version(), source.monotonic()];
    if (kept?.version !== version || now - kept.at >= source.maxAgeMs) kept = { version, at: now, text: JSON.stringify(source.value()) };
    return kept.text;
  };
}
