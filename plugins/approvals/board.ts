import {
  type ApprovalDecision,
  type ApprovalKind,
  type ApprovalOutcome,
  type ApprovalRecord,
  commonErrors,
  type Timers,
  withLimit,
} from "svc/sdk";
import { approvalErrors } from "./errors.ts";

/** Open questions at one time; the next asker is told to come back. */
export const MAX_OPEN = 256;
/** Maximum number of open requests of one requester, so that none fills the table alone. */
export const MAX_OPEN_EACH = 64;
/** Time an answer can still be asked for. */
const KEPT_MS = 15_000;
/** Time that an asker has to store an `allow-always`. */
const KEEP_MS = 10_000;
/** Answers that are kept; beyond it the oldest is forgotten early. */
const MAX_KEPT = 256;
/** Requests that ended without an answer and are still shown to operators, newest first. */
export const MAX_UNANSWERED = 20;

type Reason = NonNullable<ApprovalOutcome["terminalReason"]>;

/** Reasons as sentences, for the requester, the log and the operator. */
export const reasonTexts: Record<Reason, string> = {
  "no-route":
    "no connected client could answer: keep the control UI open or run svc approvals --watch (scope operator.approvals, capability approvals)",
  expired: "nobody answered in time",
  cancelled: "the requester withdrew it",
  stopping: "the gateway was stopping",
};

/** Said to whoever answered "always" when that could not be stored. */
export const notKeptText = "allowed this once: it could not be stored for good, and the log of the gateway says why";

/** A question that was put. */
export interface Question {
  readonly record: ApprovalRecord;
  /** Asker, for the bound of each one. */
  readonly asker: string;
  /** Never rejects. */
  readonly done: Promise<ApprovalOutcome>;
}

/** Outcome of a question, with who decided. */
export interface Resolution {
  readonly record: ApprovalRecord;
  readonly outcome: ApprovalOutcome;
  /** Null: nobody. */
  readonly resolvedBy: string | null;
  /** Epoch ms. */
  readonly endedAtMs: number;
}

interface Entry extends Question {
  resolution?: Resolution;
  keep?: (() => Promise<void>) | undefined;
  settle(outcome: ApprovalOutcome): void;
  timer: { dispose(): void | Promise<void> };
}

/** Events of approval requests, in order. */
export interface BoardEvents {
  /** The asker could not store an `allow-always`. */
  notKept(record: ApprovalRecord, error: unknown): void;
  requested(record: ApprovalRecord): void;
  resolved(resolution: Resolution): void;
}

/** The questions that are open, and the answers of the last 15 s. */
export interface Board {
  /** @throws {SvcError} `approval-exists`, `busy` */
  put(record: ApprovalRecord, from: { asker: string; timeoutMs: number; keep?: (() => Promise<void>) | undefined }): Question;
  /**
   * Takes an answer. `isKept`: false for an `allow-always` that the asker could not store, which counts as allowed once.
   * @throws {SvcError} `approval-decision`, `approval-not-found`, `approval-resolved`
   */
  resolve(kind: ApprovalKind, answer: { id: string; decision: string; by: string }): { isKept: Promise<boolean> };
  /** Ends an open question without an answer; nothing happens when it has one. */
  close(id: string, reason: Reason): void;
  closeAll(reason: Reason): void;
  /** @throws {SvcError} `approval-not-found` */
  find(kind: ApprovalKind, id: string): Question & { readonly resolution?: Resolution };
  /** Open ones, oldest first. */
  list(kind: ApprovalKind): ApprovalRecord[];
  /** Requests that ended without an answer, newest first; at most 20 of both families together. */
  unanswered(kind: ApprovalKind): Resolution[];
}

/** Keeps questions until they are answered or their time is over. Everything is in memory: a gateway that stops has denied what was open. */
export function createBoard(events: BoardEvents, timers: Pick<Timers, "setTimeout">, now: () => number): Board {
  const entries = new Map<string, Entry>();
  const unanswered: Resolution[] = [];
  const open = () => [...entries.values()].filter((entry) => !entry.resolution);

  const end = (entry: Entry, decision: ApprovalDecision | null, told: { resolvedBy: string | null; reason?: Reason }) => {
    const { id, createdAtMs, expiresAtMs } = entry.record;
    const outcome = { id, decision, createdAtMs, expiresAtMs, ...reasonOf(told.reason) };
    entry.resolution = { record: entry.record, outcome, resolvedBy: told.resolvedBy, endedAtMs: now() };
    if (decision === null) unanswered.splice(0, unanswered.length, entry.resolution, ...unanswered.slice(0, MAX_UNANSWERED - 1));
    void entry.timer.dispose();
    entry.timer = timers.setTimeout(() => entries.delete(id), KEPT_MS);
    // In the order of their ends, so that the oldest answer is the first to be forgotten.
    entries.delete(id);
    entries.set(id, entry);
    forgetOldest(entries);
    events.resolved(entry.resolution);
    const isKept = decision === "allow-always" && entry.keep ? kept(entry, entry.keep) : Promise.resolve(true);
    void isKept.then((is) => entry.settle(is ? outcome : { ...outcome, decision: "allow-once" }));
    return { isKept };
  };
  /** Never rejects. */
  const kept = async ({ record }: Entry, keep: () => Promise<void>): Promise<boolean> => {
    try {
      await withLimit(keep(), KEEP_MS, () => {
        throw new Error(`it took longer than ${KEEP_MS / 1_000} s`);
      });
      return true;
    } catch (error) {
      events.notKept(record, error);
      return false;
    }
  };
  const close = (entry: Entry | undefined, reason: Reason) => {
    if (entry && !entry.resolution) end(entry, null, { resolvedBy: null, reason });
  };
  const find = (kind: ApprovalKind, id: string) => {
    const entry = entries.get(id);
    if (entry?.record.approvalKind !== kind) throw approvalErrors.approvalNotFound({ reason: "APPROVAL_NOT_FOUND" });
    return entry;
  };

  return {
    put(record, { asker, timeoutMs, keep }) {
      if (entries.has(record.id)) throw approvalErrors.approvalExists();
      const waiting = open();
      if (waiting.length >= MAX_OPEN || waiting.filter((entry) => entry.asker === asker).length >= MAX_OPEN_EACH) {
        throw commonErrors.busy({}, { retryAfterMs: 1_000 });
      }
      const { promise, resolve } = deferred<ApprovalOutcome>();
      const timer = timers.setTimeout(() => close(entry, "expired"), timeoutMs);
      const entry: Entry = { record, asker, done: promise, settle: resolve, timer, keep };
      entries.set(record.id, entry);
      events.requested(record);
      return entry;
    },
    resolve(kind, { id, decision, by }) {
      if (!isDecision(decision)) throw approvalErrors.approvalDecision();
      const entry = find(kind, id);
      if (entry.resolution) {
        // An expired request is reported like one that never existed.
        if (entry.resolution.outcome.decision === null) throw approvalErrors.approvalNotFound({ reason: "APPROVAL_NOT_FOUND" });
        throw approvalErrors.approvalResolved({ reason: "APPROVAL_ALREADY_RESOLVED" });
      }
      if (!entry.record.request.allowedDecisions.includes(decision)) throw approvalErrors.approvalDecision();
      return end(entry, decision, { resolvedBy: by });
    },
    close: (id, reason) => close(entries.get(id), reason),
    closeAll(reason) {
      for (const entry of open()) close(entry, reason);
    },
    find,
    unanswered: (kind) => unanswered.filter(({ record }) => record.approvalKind === kind),
    list: (kind) => open().flatMap(({ record }) => (record.approvalKind === kind ? [record] : [])),
  };
}

function reasonOf(reason: Reason | undefined): Pick<ApprovalOutcome, "terminalReason" | "message"> {
  return reason ? { terminalReason: reason, message: reasonTexts[reason] } : {};
}

function isDecision(word: string): word is ApprovalDecision {
  return word === "allow-once" || word === "allow-always" || word === "deny";
}

/** Open questions stay, whatever their number: they have a bound of their own. */
function forgetOldest(entries: Map<string, Entry>): void {
  const kept = [...entries.values()].filter((entry) => entry.resolution);
  for (const entry of kept.slice(0, Math.max(0, kept.length - MAX_KEPT))) {
    void entry.timer.dispose();
    entries.delete(entry.record.id);
  }
}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
