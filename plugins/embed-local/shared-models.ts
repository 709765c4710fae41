import type { ModelRuntime } from "./model-runtime.ts";
import type { ModelSource } from "./model-source.ts";

export interface WantedModel {
  source: ModelSource;
  /** Size of the file, where it is one. */
  size: number | undefined;
  /** Folder of downloaded models. */
  directory: string | undefined;
}

export interface BorrowedModel {
  runtime: ModelRuntime;
  /** The last one who gives it back closes it. Idempotent. */
  giveBack(): Promise<void>;
}

/** Models in use: agents with the same one share it. */
export interface SharedModels {
  borrow(wanted: WantedModel): BorrowedModel;
  /** Closes all, whoever still has them. */
  close(): Promise<void>;
}

export function createSharedModels(open: (wanted: WantedModel) => ModelRuntime): SharedModels {
  const shared = new Map<string, { runtime: ModelRuntime; users: number }>();
  return {
    borrow(wanted) {
      // The size is part of it: a file that was replaced is another model, whoever still uses the old one.
      const key = JSON.stringify([wanted.source, wanted.size, wanted.directory]);
      const one = shared.get(key) ?? { runtime: open(wanted), users: 0 };
      shared.set(key, one);
      one.users++;
      let isBack = false;
      return {
        runtime: one.runtime,
        async giveBack() {
          if (isBack) return;
          isBack = true;
          if (--one.users > 0) return;
          shared.delete(key);
          await one.runtime.close();
        },
      };
    },
    async close() {
      await Promise.all([...shared.values()].map(({ runtime }) => runtime.close()));
    },
  };
}
