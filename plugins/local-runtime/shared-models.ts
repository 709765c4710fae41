/** Something that ends. */
interface Closable {
  close(): Promise<void>;
}

/** Models in use: those who want the same one share it. */
export interface SharedModels<Wanted, Model extends Closable> {
  /** @returns the model, and its release: the last user that releases it closes it; idempotent */
  acquire(wanted: Wanted): { model: Model; release(): Promise<void> };
  /** Closes all, whoever still has them. */
  close(): Promise<void>;
}

/** @param open makes a model; those whose `wanted` reads the same are one */
export function createSharedModels<Wanted, Model extends Closable>(open: (wanted: Wanted) => Model): SharedModels<Wanted, Model> {
  const shared = new Map<string, { model: Model; users: number }>();
  return {
    acquire(wanted) {
      const key = JSON.stringify(wanted);
      const one = shared.get(key) ?? { model: open(wanted), users: 0 };
      shared.set(key, one);
      one.users++;
      let isReleased = false;
      return {
        model: one.model,
        async release() {
          if (isReleased) return;
          isReleased = true;
          if (--one.users > 0) return;
          shared.delete(key);
          await one.model.close();
        },
      };
    },
    async close() {
      await Promise.all([...shared.values()].map(({ model }) => model.close()));
    },
  };
}
