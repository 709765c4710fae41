/** Joins what comes for the same key while one has just been sent, so that a receiver gets one of a key in `windowMs`. */
export interface MergeWindows<Item, To> {
  /** Sends at once, or keeps for the end of the window that is open for this receiver and key. */
  offer(to: To, key: string, item: Item): void;
  /** Sends what is kept for a receiver: something that must not overtake it is about to follow. */
  flush(to: To): void;
  /** Forgets a receiver and what is kept for it. */
  drop(to: To): void;
}

interface Slot<Item> {
  window: Window;
  kept: Item | undefined;
}
interface Window {
  timer: NodeJS.Timeout;
  open: Set<unknown>;
}

/**
 * Windows that were opened in the same turn close together: one timer for all receivers of an event.
 * @param join two items of one key; called once for each pair, whatever the number of receivers that wait with it
 */
export function createMergeWindows<Item extends object, To extends object>(options: {
  windowMs: number;
  send(to: To, item: Item): void;
  join(earlier: Item, later: Item): Item;
}): MergeWindows<Item, To> {
  const slots = new Map<To, Map<string, Slot<Item>>>();
  const joined = new WeakMap<Item, WeakMap<Item, Item>>();
  let current: { key: string; window: Window } | undefined;

  const joinOnce = (earlier: Item, later: Item): Item => {
    const known = joined.get(later) ?? new WeakMap<Item, Item>();
    joined.set(later, known);
    const both = known.get(earlier) ?? options.join(earlier, later);
    known.set(earlier, both);
    return both;
  };
  const openWindow = (key: string): Window => {
    const open = new Set<unknown>();
    const window = { open, timer: setTimeout(() => close(key, window), options.windowMs) };
    current = { key, window };
    queueMicrotask(() => {
      if (current?.window === window) current = undefined;
    });
    return window;
  };
  const enter = (to: To, key: string) => {
    const window = current?.key === key ? current.window : openWindow(key);
    window.open.add(to);
    const own = slots.get(to) ?? new Map<string, Slot<Item>>();
    slots.set(to, own);
    own.set(key, { window, kept: undefined });
  };
  const leave = (to: To, key: string, { window }: Slot<Item>) => {
    window.open.delete(to);
    if (window.open.size === 0) {
      clearTimeout(window.timer);
      if (current?.window === window) current = undefined;
    }
    const own = slots.get(to);
    own?.delete(key);
    if (own?.size === 0) slots.delete(to);
  };
  /** A receiver for whom something was kept gets it now and waits again; for the others the key is free. */
  const close = (key: string, window: Window) => {
    if (current?.window === window) current = undefined;
    for (const to of window.open as Set<To>) {
      const slot = slots.get(to)?.get(key);
      if (!slot) continue;
      leave(to, key, slot);
      if (slot.kept === undefined) continue;
      enter(to, key);
      options.send(to, slot.kept);
    }
  };
  return {
    offer(to, key, item) {
      const slot = slots.get(to)?.get(key);
      if (slot) {
        slot.kept = slot.kept === undefined ? item : joinOnce(slot.kept, item);
        return;
      }
      enter(to, key);
      options.send(to, item);
    },
    flush(to) {
      for (const slot of slots.get(to)?.values() ?? []) {
        if (slot.kept === undefined) continue;
        const { kept } = slot;
        slot.kept = undefined;
        options.send(to, kept);
      }
    },
    drop(to) {
      for (const [key, slot] of slots.get(to) ?? []) leave(to, key, slot);
    },
  };
}
