import type { CrashVerdict, DeliveryGate, StoreOp } from "svc/sdk";
import type { Sqlite } from "./native.ts";

/** A suspect that has run this long without ending the process is beside others again; doubled with each crash that it was part of. */
const aloneMs = 60_000;
/** A request for the place of a suspect that is not renewed is over: its queue may have stopped. */
const wantMs = 5_000;

/** Deliveries that were under way at an unclean end, read before anything changes them. */
export interface CrashScene {
  /** Deliveries whose own step was under way: the call of a model or of a platform. */
  begun: ReadonlySet<string>;
  /** Suspects of earlier crashes that have not had another turn, with the number of crashes they were part of. */
  marked: ReadonlyMap<string, number>;
  /** Takes charges back: the process has ended although those were not under way, so something else ends it. */
  forgive: readonly StoreOp[];
}

interface LeftRow {
  uid: string;
  state: string;
  lease_boot: string | null;
  attempt: number;
  not_before: number | null;
  suspect: number | null;
  crashes: number | null;
  result: string | null;
}

/**
 * A row of a hook has begun when its run had: the store of that is awaited before the model is called. A message has begun when it is `sending`.
 * @param isUnclean false: the last process was stopped, so nobody is to blame
 */
export function readCrashScene(db: Sqlite, { isUnclean, now }: { isUnclean: boolean; now: number }): CrashScene {
  const rows = db
    .prepare(
      `SELECT uid, state, lease_boot, attempt, not_before, result, json_extract(result, '$.suspect') AS suspect, json_extract(result, '$.crashes') AS crashes
       FROM deliveries WHERE ended_at IS NULL AND (result IS NULL OR json_valid(result))
         AND (state IN ('running', 'sending') OR json_extract(result, '$.suspect') IS NOT NULL)`,
    )
    .all() as LeftRow[];
  const runs = db.prepare("SELECT run_id, boot_id FROM runs WHERE finished_at IS NULL AND started_at IS NOT NULL").all() as Array<{
    run_id: string;
    boot_id: string;
  }>;
  const hasBegun = ({ uid, state, lease_boot }: LeftRow) =>
    state === "sending" ||
    (state === "running" &&
      runs.some(({ run_id, boot_id }) => (run_id === uid || run_id.startsWith(`${uid}:`)) && lease_boot?.startsWith(`${boot_id}/`)));
  const begun = isUnclean ? new Set(rows.filter(hasBegun).map(({ uid }) => uid)) : new Set<string>();
  const isExplained = !isUnclean || begun.size === 1;
  return {
    begun,
    marked: new Map(rows.flatMap(({ uid, suspect }) => (typeof suspect === "number" ? [[uid, suspect]] : []))),
    forgive: isExplained
      ? []
      : rows.filter((row) => row.state === "accepted" || row.state === "uncertain").flatMap((row) => pardon(row, now)),
  };
}

function pardon({ uid, state, attempt, crashes, not_before, result }: LeftRow, now: number): StoreOp[] {
  if (typeof crashes !== "number" || crashes < 1) return [];
  const { crashes: _, ...rest } = JSON.parse(result ?? "{}") as Record<string, never>;
  return [
    {
      op: "delivery.requeue",
      uid,
      from: [state as "accepted" | "uncertain"],
      to: state as "accepted" | "uncertain",
      attempt: Math.max(0, attempt - crashes),
      result: rest,
      ...(not_before === null ? {} : { notBefore: not_before }),
      at: now,
    },
  ];
}

/** Whether a delivery may have ended the last process, and which may begin beside which. */
export interface Suspects {
  crashed(uid: string): CrashVerdict | undefined;
  gate: DeliveryGate;
}

interface Active {
  isAlone: boolean;
  timer: NodeJS.Timeout | undefined;
}

export function createSuspects({ begun, marked }: CrashScene, monotonic: () => number): Suspects {
  /** Crashes that each was part of. */
  const suspects = new Map<string, number>(marked);
  for (const uid of begun) suspects.set(uid, (marked.get(uid) ?? 0) + 1);
  const active = new Map<string, Active>();
  const wanted = new Map<string, number>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const isTakenAlone = () => [...active.values()].some(({ isAlone }) => isAlone);
  const isWantedElsewhere = (owner: string) => [...wanted].some(([other, at]) => other !== owner && monotonic() - at <= wantMs);

  return {
    crashed: (uid) => (begun.has(uid) ? (begun.size === 1 ? "guilty" : "suspect") : undefined),
    gate: {
      suspects: () => [...suspects.keys()],
      suspicion: (uid) => suspects.get(uid) ?? 0,
      admit(owner, uids) {
        const due = uids.filter((uid) => suspects.has(uid) && !active.has(uid));
        if (due.length > 0) wanted.set(owner, monotonic());
        else wanted.delete(owner);
        if (isTakenAlone()) return [];
        if (due.length > 0) return active.size === 0 ? due.slice(0, 1) : [];
        return isWantedElsewhere(owner) ? [] : [...uids];
      },
      enter(uid) {
        const crashes = suspects.get(uid);
        const own: Active = { isAlone: crashes !== undefined, timer: undefined };
        if (crashes !== undefined) {
          own.timer = setTimeout(
            () => {
              own.isAlone = false;
              tell();
            },
            Math.min(2 ** 31 - 1, aloneMs * 2 ** (crashes - 1)),
          );
          own.timer.unref();
        }
        active.set(uid, own);
        return {
          leave({ isCleared }) {
            clearTimeout(own.timer);
            if (active.get(uid) !== own) return;
            active.delete(uid);
            if (isCleared) suspects.delete(uid);
            tell();
          },
        };
      },
      onFree(listener) {
        listeners.add(listener);
        return { dispose: () => void listeners.delete(listener) };
      },
    },
  };
}
