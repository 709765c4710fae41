import type { ContributionView } from "../../sdk/types/context.ts";

/** The same view without the ids that are not for its reader. */
export function partOf<T>(view: ContributionView<T>, isShown: (id: string) => boolean): ContributionView<T> {
  return {
    ready: view.ready,
    watch: view.watch,
    get: (id) => (isShown(id) ? view.get(id) : undefined),
    *[Symbol.iterator]() {
      for (const one of view) if (isShown(one.id)) yield one;
    },
  };
}
