import type { Disposable } from "../../sdk/types/common.ts";
import type { Contribution, ContributionView } from "../../sdk/types/context.ts";
import type { Activation } from "./activation.ts";

interface Entry extends Contribution<unknown> {
  readonly order: number;
  /** Made by a plugin that does not come with svc. */
  readonly isOutside?: boolean;
  /** Called when a plugin before this one in load order takes the id; plugins of one level register in any order. */
  readonly lost?: (winner: string) => void;
}

export interface Contributions {
  /** Adds a value; `undefined` when `(point, id)` is taken: svc's own plugins go before others, then the first in load order has it, whoever came first. */
  add(point: string, entry: Entry): Disposable | undefined;
  /** Owner of a taken id. */
  ownerOf(point: string, id: string): string | undefined;
  view<T>(point: string): ContributionView<T>;
  /** Everything a plugin still holds, as `point/id`; empty after a clean dispose. */
  ownedBy(owner: string): string[];
  /** Makes many changes in one turn; watchers hear of each point once, after the last of them. */
  batch(change: () => void): void;
}

/** The generic registry `(point, id) → value, owner`; the kernel knows no domain words. */
export function createContributions(activation?: Activation): Contributions {
  const points = new Map<string, Map<string, Entry>>();
  const watchers = new Map<string, Set<() => void>>();
  const entries = (point: string) => points.get(point) ?? new Map<string, Entry>();
  let held: Set<string> | undefined;
  const changed = (point: string) => {
    if (held) held.add(point);
    else for (const listener of watchers.get(point) ?? []) listener();
  };
  return {
    add(point, entry) {
      const map = entries(point);
      const holder = map.get(entry.id);
      if (holder && !isBefore(entry, holder)) return undefined;
      map.set(entry.id, entry);
      points.set(point, map);
      holder?.lost?.(entry.owner);
      changed(point);
      return {
        dispose() {
          if (map.get(entry.id) !== entry) return;
          map.delete(entry.id);
          changed(point);
        },
      };
    },
    ownerOf: (point, id) => entries(point).get(id)?.owner,
    view<T>(point: string): ContributionView<T> {
      return {
        get: (id) => entries(point).get(id) as Contribution<T> | undefined,
        *[Symbol.iterator]() {
          yield* [...entries(point).values()].sort((a, b) => a.order - b.order) as unknown as Contribution<T>[];
        },
        ready: async (id) => activation?.usePoint(point, id),
        watch(listener) {
          const set = watchers.get(point) ?? new Set();
          watchers.set(point, set.add(listener));
          return { dispose: () => void set.delete(listener) };
        },
      };
    },
    ownedBy(owner) {
      return [...points].flatMap(([point, map]) => [...map.values()].filter((e) => e.owner === owner).map((e) => `${point}/${e.id}`));
    },
    batch(change) {
      held = new Set();
      try {
        change();
      } finally {
        const points = held;
        held = undefined;
        for (const point of points) changed(point);
      }
    },
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return Boolean(a.isOutside) === Boolean(b.isOutside) ? a.order < b.order : !a.isOutside;
}
