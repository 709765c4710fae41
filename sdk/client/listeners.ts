/** A set of callbacks under names; one that throws does not keep the others from being called. */
export function createListeners<Args extends unknown[]>(onFault: (error: unknown) => void) {
  const byName = new Map<string, Set<(...args: Args) => void>>();
  return {
    add(name: string, listener: (...args: Args) => void): () => void {
      const set = byName.get(name) ?? new Set();
      byName.set(name, set);
      set.add(listener);
      return () => {
        set.delete(listener);
        if (set.size === 0 && byName.get(name) === set) byName.delete(name);
      };
    },
    call(name: string, ...args: Args): void {
      for (const listener of [...(byName.get(name) ?? [])]) {
        try {
          listener(...args);
        } catch (error) {
          onFault(error);
        }
      }
    },
  };
}
