import type { Clock, Lease, Leases, OpResult } from "svc/sdk";
import { storeErrors } from "./errors.ts";
import type { LeaseOp } from "./operations.ts";

/** A lease that was not renewed for so long is lost. */
export const leaseMs = 10_000;
const renewMs = leaseMs / 3;
const longestName = 200;
const maxHeld = 1_000;

export interface LeaseBook extends Leases {
  /** Owners whose claims are alive. */
  owners(): string[];
  /** The store closes: every lease is lost. */
  close(): void;
}

interface Held {
  token: number;
  owner: string | undefined;
  lost: AbortController;
  renewedAt: number;
}

/**
 * Leases inside one process. Tokens are rows, so that the writer can compare them in the transaction of a commit. The state folder belongs to one process, so no
 * clock decides who holds a lease: it is renewed by reading its token, which works on a full disk too, and is lost when another token is found or when nothing
 * could be read for `leaseMs`. A process that was suspended for an hour renews first and loses nothing.
 */
export function createLeases({
  commit,
  tokens,
  clock,
}: {
  commit(op: LeaseOp): Promise<OpResult[]>;
  /** Present token of each lease. @throws when it cannot be read */
  tokens(): Map<string, number>;
  clock: Pick<Clock, "monotonic">;
}): LeaseBook {
  const book = new Map<string, Held>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const lose = (name: string, held: Held) => {
    if (book.get(name) === held) book.delete(name);
    if (book.size === 0) stopTimer();
    held.lost.abort(storeErrors.fenced({ what: `lease "${name}"` }));
  };
  const stopTimer = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const renew = () => {
    const now = clock.monotonic();
    const found = read(tokens);
    for (const [name, held] of [...book]) {
      if (found?.get(name) === held.token) held.renewedAt = now;
      else if (found || now - held.renewedAt > leaseMs) lose(name, held);
    }
  };

  return {
    async acquire(name, { owner } = {}) {
      if (name.length < 1 || name.length > longestName)
        throw storeErrors.storeInvalidOp({ reason: `a lease with a name of ${name.length} characters; expected 1 to ${longestName}` });
      if (book.size >= maxHeld && !book.has(name)) throw storeErrors.storageBusy({ queued: book.size }, { retryAfterMs: 5_000 });
      const [result] = await commit({ op: "lease.acquire", name });
      const held: Held = { token: Number(result?.version), owner, lost: new AbortController(), renewedAt: clock.monotonic() };
      const before = book.get(name);
      if (isClosed || (before && before.token > held.token)) lose(name, held);
      else {
        book.set(name, held);
        if (before) lose(name, before);
        timer ??= setInterval(renew, renewMs).unref();
      }
      return toLease(name, held, {
        async release() {
          if (book.get(name) !== held) return;
          book.delete(name);
          if (book.size === 0) stopTimer();
          await commit({ op: "lease.release", name, token: held.token });
        },
      });
    },
    owners: () => [...new Set([...book.values()].flatMap(({ owner }) => (owner === undefined ? [] : [owner])))],
    close() {
      isClosed = true;
      stopTimer();
      for (const [name, held] of [...book]) lose(name, held);
    },
  };
}

function toLease(name: string, { token, lost }: Held, { release }: Pick<Lease, "release">): Lease {
  return { name, token, lost: lost.signal, release };
}

function read(tokens: () => Map<string, number>): Map<string, number> | undefined {
  try {
    return tokens();
  } catch {
    return undefined;
  }
}
