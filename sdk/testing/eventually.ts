/**
 * Waits until a check stops throwing (and returns something else than `false` or `undefined`), polling every 20 ms.
 * @returns what the check returned
 * @throws the last failure once `timeoutMs` (default 30 s) have passed
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 30_000): Promise<Exclude<T, false | null | undefined>> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await check();
      if (value !== undefined && value !== null && value !== false) return value as Exclude<T, false | null | undefined>;
      failure = new Error(`still ${String(value)}`);
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadlineMs) throw failure;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
