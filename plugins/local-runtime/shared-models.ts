/** Something that ends. */
interface Closable {
  close(): Promise<void>;
}

/** Models in use: those who want the same one share it. */
export interface SharedModels<Wanted, Model extends Closable> {
  /** @returns the model, and what gives it back: the last one who does so closes it; idempotent */
  borrow(wanted: Wanted): { model: Model; giveBack(): Promise<void> };
  /** Closes all, whoever still has them. */
  close(): Promise<void>;
}

/** @param open makes a model; those whose `wanted` reads the same are one */
export function createSharedModels<Wanted, Model extends Closable>(open: (wanted: Wanted) => Model): SharedModels<Wanted, Model> {
  const shared = new Map<string, { model: Model; users: number }>();
  return {
    borrow(wanted) {
      const key = JSON.stringify(wanted);
      const one = shared.get(key) ?? { model: open(wanted), users: 0 };
      shared.set(key, one);
      one.users++;
      let isBack = false;
      return {
        model: one.model,
        async giveBack() {
          if (isBack) return;
          isBack = true;
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
