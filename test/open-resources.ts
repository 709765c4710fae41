/** Work of the system that ends by itself, whoever has begun it. */
const transient = /Req|Immediate/;

/**
 * Remembers what keeps this process alive: timers, sockets, servers, watchers, children, threads. Returns a function that names what has come in addition and
 * is open still, as `Timeout (2)`. It costs nothing meanwhile, and therefore knows no places: `expectNoLeaks` does.
 */
export function watchOpenResources(): () => string[] {
  const before = openResources();
  return () => {
    const more = [...openResources()].map(([kind, count]) => ({ kind, count: count - (before.get(kind) ?? 0) }));
    return more.filter(({ count }) => count > 0).map(({ kind, count }) => `${kind} (${count})`);
  };
}

function openResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!transient.test(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
