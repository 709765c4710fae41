import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/time.ts";
import type { Disposable } from "../../sdk/types/common.ts";

/** Time limit for all disposers of one instance together; they run one after the other. */
const DISPOSE_MS = 5_000;
/** Time for all disposers that are left then and are begun at once. */
const LATE_MS = 100;

interface Entry {
  /** Puts it in its registry; gone once that has happened. */
  wire?: (() => Disposable) | undefined;
  undo?: Disposable | undefined;
  wired: boolean;
}

/** Registrations and resources of one plugin instance, in order. */
export interface Registrations {
  /** Something to undo at the end: a timer, a disposer. */
  keep(undo: Disposable): Disposable;
  /** A place in a registry: taken at `open`, at once when that has been. A refusal goes to `refused`. */
  wire(connect: () => Disposable): Disposable;
  /** Takes all places, in one turn. */
  open(): void;
  /** Gives all places back, in one turn; nothing can be registered any more, but what was opened stays. */
  close(): void;
  isOpen(): boolean;
  /** Undoes everything in reverse, within 5 s. Resolves to what could not be undone. */
  dispose(): Promise<string[]>;
}

/** @param refused told of each place that could not be taken */
export function createRegistrations(refused: (error: unknown) => void): Registrations {
  const entries = new Set<Entry>();
  let state: "pending" | "open" | "closed" = "pending";

  const connect = (entry: Entry) => {
    const { wire } = entry;
    entry.wire = undefined;
    try {
      entry.undo = wire?.();
    } catch (error) {
      entries.delete(entry);
      refused(error);
    }
  };
  const add = (entry: Entry): Disposable => {
    entries.add(entry);
    if (entry.wired && state === "open") connect(entry);
    return { dispose: () => (entries.delete(entry) ? entry.undo?.dispose() : undefined) };
  };
  const close = () => {
    state = "closed";
    for (const entry of [...entries].reverse().filter((e) => e.wired)) {
      entries.delete(entry);
      void entry.undo?.dispose();
    }
  };

  return {
    keep: (undo) => add({ undo, wired: false }),
    wire: (wire) => (state === "closed" ? { dispose: () => undefined } : add({ wire, wired: true })),
    open() {
      state = "open";
      for (const entry of [...entries]) if (entry.wire) connect(entry);
    },
    close,
    isOpen: () => state === "open",
    async dispose() {
      close();
      const left: string[] = [];
      const endsAt = performance.now() + DISPOSE_MS;
      const late = new Set<Promise<unknown>>();
      for (const entry of [...entries].reverse()) {
        entries.delete(entry);
        const undone = (async () => entry.undo?.dispose())().then(() => undefined, messageOf);
        const leftMs = endsAt - performance.now();
        if (leftMs <= 0) {
          late.add(undone);
          void undone.then((problem) => {
            late.delete(undone);
            if (problem) left.push(problem);
          });
          continue;
        }
        const problem = await withLimit(undone, leftMs, () => `a disposer did not finish within ${DISPOSE_MS / 1000} s`);
        if (problem) left.push(problem);
      }
      await withLimit(Promise.all(late), LATE_MS, () => void left.push(`${late.size} more disposers did not finish either`));
      return left;
    },
  };
}
