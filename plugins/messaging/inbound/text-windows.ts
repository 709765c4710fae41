import type { Clock } from "svc/sdk";
import type { Slot } from "./runner.ts";
import type { Inbound } from "./stored.ts";

/** A sender that goes on writing is read after this many windows. */
const MAX_WINDOWS = 5;

/** A stored text whose sender may go on: until then its row is not due. */
export interface OpenText {
  uid: string;
  slot: Slot;
  inbound: Inbound;
  /** Monotonic times: of its first text, and when its row is due. */
  since: number;
  until: number;
}

/**
 * Texts of senders within `messages.inbound.debounceMs`. It only remembers which row the next text may be joined to: rows are stored one by one, and those that a
 * process leaves behind are answered one by one.
 */
export class TextWindows {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #open = new Map<string, OpenText>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Does the work on messages of one sender one after the other. */
  inTurn<T>(sender: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(sender) ?? Promise.resolve()).then(work, work);
    this.#turns.set(sender, turn);
    const end = () => {
      if (this.#turns.get(sender) === turn) this.#turns.delete(sender);
    };
    turn.then(end, end);
    return turn;
  }

  /** The row that waits for more of this sender. */
  get(sender: string): OpenText | undefined {
    this.#forgetDue();
    return this.#open.get(sender);
  }

  /** Time for which a text waits for the next one. @param open the row that it is joined to */
  waitMs(windowMs: number, open: OpenText | undefined): number {
    return open ? Math.max(0, Math.min(windowMs, open.since + MAX_WINDOWS * windowMs - this.#clock.monotonic())) : windowMs;
  }

  /** @param waitMs 0: the row is due */
  set(
    sender: string,
    text: Pick<OpenText, "uid" | "slot" | "inbound">,
    { waitMs, joined }: { waitMs: number; joined: OpenText | undefined },
  ): void {
    const now = this.#clock.monotonic();
    if (waitMs > 0) this.#open.set(sender, { ...text, since: joined?.since ?? now, until: now + waitMs });
    else this.#open.delete(sender);
  }

  /** A row that was taken up in the meantime. */
  forget(sender: string): void {
    this.#open.delete(sender);
  }

  #forgetDue(): void {
    const now = this.#clock.monotonic();
    for (const [sender, { until }] of this.#open) if (until <= now) this.#open.delete(sender);
  }
}
