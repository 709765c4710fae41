import type { Leases } from "../types/leases.ts";
import type { OpResult, Store, StoreOp } from "../types/store.ts";
import type { DeliveryRow, DeliveryState } from "../types/store-rows.ts";
import { sampleDelivery } from "./store-operations.ts";

/** An empty store with its leases. Its clock stands at 0, or rows of that age are not dropped yet. */
export interface StoreSubject {
  store: Store;
  leases: Leases;
  dispose?(): Promise<void>;
}

/** Results of a commit without versions, or the code that it was refused with. */
export type Outcome = OpResult[] | string;

export async function outcomeOf(commit: Promise<OpResult[]>): Promise<Outcome> {
  return commit.then(
    (results) => results.map(({ version: _, known, ...rest }) => ({ ...rest, ...(known ? { known: shortOf(known) } : {}) }) as OpResult),
    (error: { code?: unknown }) => String(error.code),
  );
}

/** A known row comes without its payload from some stores. */
function shortOf({ uid, state, attempt }: Pick<DeliveryRow, "uid" | "state" | "attempt">): DeliveryRow {
  return { uid, state, attempt } as DeliveryRow;
}

/** Form of a result of the model that `outcomeOf` has. */
export function expectedOf(outcome: Outcome): Outcome {
  if (typeof outcome === "string") return outcome;
  return outcome.map((result) => (result.known ? { known: shortOf(result.known) } : result));
}

/** Operations that bring a new delivery into a state; `b1` has claimed it where it was claimed. */
export function leadTo(state: DeliveryState | "absent", uid: string): StoreOp[] {
  const accept: StoreOp = { op: "delivery.accept", delivery: sampleDelivery(uid), at: 1 };
  const claim = (to: "running" | "sending"): StoreOp => ({ op: "delivery.claim", uid, to, leaseBoot: "b1", at: 2 });
  const owner = { leaseBoot: "b1", attempt: 1 };
  switch (state) {
    case "absent":
      return [];
    case "accepted":
      return [accept];
    case "running":
    case "sending":
      return [accept, claim(state)];
    case "uncertain":
      return [accept, claim("sending"), { op: "delivery.requeue", uid, from: ["sending"], owner, to: "uncertain", at: 3 }];
    default:
      return [accept, claim("running"), { op: "delivery.finish", uid, from: ["running"], owner, state, result: {}, at: 3 }];
  }
}
