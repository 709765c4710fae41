import type { Ingress } from "../ingress.ts";

/** One config's ingress together with the credential it came with. */
export interface Generation {
  readonly ingress: Ingress;
  /** SHA-256 of `hooks.token`; undefined: it is written in the config and could not be had. */
  readonly tokenDigest: Buffer | undefined;
}

/** A request's hold on the generation it began with. */
export interface Lease extends Generation {
  /** True while no other one has replaced it. */
  isCurrent(): boolean;
  /** May be called twice. */
  release(): void;
}

interface Entry extends Generation {
  readers: number;
  isRetired: boolean;
}

/** The generation in force, and older ones for as long as a request still works with them. */
export interface Generations {
  current(): Generation | undefined;
  enter(): Lease | undefined;
  /** Puts the next one in place, or nothing. The old one ends with its last reader. */
  swap(next: Generation | undefined): void;
}

export function createGenerations(): Generations {
  let current: Entry | undefined;
  const end = (entry: Entry) => {
    if (entry.isRetired && entry.readers === 0) entry.ingress.dispose();
  };
  return {
    current: () => current,
    enter() {
      const entry = current;
      if (!entry) return undefined;
      entry.readers += 1;
      let isHeld = true;
      return {
        ingress: entry.ingress,
        tokenDigest: entry.tokenDigest,
        isCurrent: () => entry === current,
        release() {
          if (!isHeld) return;
          isHeld = false;
          entry.readers -= 1;
          end(entry);
        },
      };
    },
    swap(next) {
      const old = current;
      current = next && { ...next, readers: 0, isRetired: false };
      if (!old) return;
      old.isRetired = true;
      end(old);
    },
  };
}
