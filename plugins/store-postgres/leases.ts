import { type Clock, type Lease, type Leases, type OpResult, sleep } from "svc/sdk";
import type { LeaseOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";

const longestName = 200;
const maxHeld = 10_000;
const askAgainMs = 500;

/** Leases of this gateway; the rows are renewed all together by `gateway-row.ts`. */
export interface LeaseBook extends Leases {
  /** Compares with the tokens that the database has for this gateway: a lease that is not among them is lost. */
  compare(tokens: ReadonlyMap<string, number>): void;
  /** Every lease is lost: the gateway could not renew them in time, was fenced, or closes. */
  loseAll(): void;
  readonly held: number;
}

interface Held {
  token: number;
  lost: AbortController;
  /** Acquired after the tokens of a comparison were asked for. */
  generation: number;
}

interface Deps {
  commit(op: LeaseOp): Promise<OpResult[]>;
  /** So long a lease of another gateway is waited for: by then it is free, or is renewed. */
  waitMs: number;
  clock: Pick<Clock, "monotonic">;
  signal: AbortSignal;
}

export function createLeases(deps: Deps): LeaseBook {
  const { commit } = deps;
  const book = new Map<string, Held>();
  let comparisons = 0;

  const lose = (name: string, held: Held) => {
    if (book.get(name) === held) book.delete(name);
    held.lost.abort(new Refusal("fenced", { what: `lease "${name}"` }));
  };

  return {
    async acquire(name, { owner } = {}) {
      if (name.length < 1 || name.length > longestName)
        throw new Refusal("store-invalid-op", { reason: `a lease with a name of ${name.length} characters; expected 1 to ${longestName}` });
      if (book.size >= maxHeld && !book.has(name)) throw new Refusal("storage-busy", { queued: book.size }, { retryAfterMs: 5_000 });
      const token = await askFor({ op: "lease.acquire", name, owner: owner ?? null }, deps);
      const held: Held = { token, lost: new AbortController(), generation: comparisons };
      const before = book.get(name);
      if (before && before.token > held.token) lose(name, held);
      else {
        book.set(name, held);
        if (before) lose(name, before);
      }
      return toLease(name, held, async () => {
        if (book.get(name) !== held) return;
        book.delete(name);
        await commit({ op: "lease.release", name, token: held.token });
      });
    },
    compare(tokens) {
      for (const [name, held] of [...book]) {
        if (tokens.get(name) !== held.token && held.generation < comparisons) lose(name, held);
      }
      comparisons += 1;
    },
    loseAll() {
      for (const [name, held] of [...book]) lose(name, held);
    },
    get held() {
      return book.size;
    },
  };
}

/** Token of the lease, as soon as no other gateway that lives has it. @throws {Refusal} `storage-busy` when one keeps it */
async function askFor(op: LeaseOp, { commit, waitMs, clock, signal }: Deps): Promise<number> {
  const end = clock.monotonic() + waitMs;
  for (;;) {
    try {
      const [result] = await commit(op);
      return Number(result?.version);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "fenced") throw error;
      if (clock.monotonic() > end) throw new Refusal("storage-busy", { queued: 0 }, { retryAfterMs: 5_000, cause: error });
    }
    await sleep(askAgainMs, signal);
  }
}

function toLease(name: string, { token, lost }: Held, release: () => Promise<void>): Lease {
  return { name, token, lost: lost.signal, release };
}
