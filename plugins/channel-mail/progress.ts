import { isRecord, type PluginKv } from "svc/sdk";

/** How far a mailbox was read. */
export interface Progress {
  uidValidity: string;
  /** First UID that was not handled yet. */
  next: number;
  /** Latest time at which all mails were handled, in milliseconds since 1970. */
  at: number;
  /** Set while a mailbox with new numbers is gone through: older mails are passed over. */
  since?: number;
}

/** A mailbox whose numbers begin anew is read from so long before the last contact. */
const SLACK_MS = 24 * 3_600_000;

/** Reads and stores how far a mailbox was read. The numbers of its mails are ascending, and mails are handled in their order, so one number says it. */
export class ProgressStore {
  readonly #kv: Pick<PluginKv, "get" | "set">;
  readonly #key: string;

  constructor(kv: Pick<PluginKv, "get" | "set">, mailbox: string) {
    this.#kv = kv;
    this.#key = `inbox:${mailbox}`;
  }

  /**
   * Progress for a mailbox that was just opened. Mails that lie in it at the first contact are not answered. After a change of UIDVALIDITY those are looked through
   * again that came since the last contact.
   */
  async open({ uidValidity, uidNext }: { uidValidity: bigint; uidNext: number }, now: number): Promise<Progress> {
    const stored = await this.#kv.get(this.#key);
    const validity = String(uidValidity);
    if (isProgress(stored) && stored.uidValidity === validity) return stored;
    const progress: Progress = isProgress(stored)
      ? { uidValidity: validity, next: 1, at: stored.at, since: Math.min(stored.since ?? stored.at, stored.at) - SLACK_MS }
      : { uidValidity: validity, next: uidNext, at: now };
    await this.save(progress);
    return progress;
  }

  async save(progress: Progress): Promise<void> {
    await this.#kv.set(this.#key, progress);
  }
}

function isProgress(value: unknown): value is Progress {
  return isRecord(value) && typeof value.uidValidity === "string" && typeof value.next === "number" && typeof value.at === "number";
}
