import type { DeliveryDir, DeliveryRow, Store } from "svc/sdk";
import type { EmbeddedStatus } from "./storage-unavailable.ts";

type Settled<Part> = {
  [Name in keyof Part]: Part[Name] extends (...args: infer Args) => Promise<infer Result> ? (...args: Args) => Result : Part[Name];
};

/** The store with the reads of the embedded database, which answer at once. This plugin alone may rely on that; others get `Store`. */
export type SyncStore = Pick<Store, "commit"> & { status(): EmbeddedStatus } & {
  [Part in "sessions" | "messages" | "transcripts" | "idempotency" | "systemEvents" | "kv" | "runs"]: Settled<Store[Part]>;
} & {
  deliveries: Omit<Settled<Store["deliveries"]>, "abandoned"> & {
    /** `running` and `sending` rows of other boots, oldest first, at most `limit`. */
    abandoned(options: { dirs: readonly DeliveryDir[]; boot: string; limit: number }): DeliveryRow[];
  };
};
