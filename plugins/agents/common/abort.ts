/** Rejects with the signal's reason as soon as it aborts, or `graceMs` after; otherwise settles as `work` does. A late result is dropped. */
export function whileAlive<T>(work: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const giveUp = () => {
      timer = setTimeout(() => reject(signal.reason), graceMs);
    };
    const onAbort = () => (graceMs > 0 ? giveUp() : reject(signal.reason));
    const clean = () => {
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(clean);
  });
}
