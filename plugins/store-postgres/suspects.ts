import { type CrashVerdict, type DeliveryGate, isRecord, type JsonObject, type StoreOp } from "svc/sdk";
import type { Row } from "./database.ts";

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
  leaseBoot: string;
  attempt: number;
  notBefore: number | undefined;
  note: Record<string, unknown>;
}

/**
 * A row of a hook has begun when its run had: the store of that is awaited before the model is called. A message has begun when it is `sending`.
 * @param boots boots of this instance that were killed, the newest last; none: the last process was stopped, so nobody is to blame
 */
export async function readCrashScene(
  query: (text: string) => Promise<Row[]>,
  { boots, now }: { boots: readonly string[]; now: number },
): Promise<CrashScene> {
  const isOurs = (owner: string) => boots.some((boot) => owner === boot || owner.startsWith(`${boot}/`));
  const left = await query(
    `SELECT uid, state, lease_boot, attempt, not_before, result FROM deliveries
     WHERE ended_at IS NULL AND (state IN ('running', 'sending') OR result LIKE '%"suspect"%' OR result LIKE '%"crashes"%') ORDER BY id LIMIT 2000`,
  );
  const rows = left.map(toLeftRow);
  const begunRuns = await query("SELECT run_id, boot_id FROM runs WHERE finished_at IS NULL AND started_at IS NOT NULL LIMIT 2000");
  const hasBegun = ({ uid, state, leaseBoot }: LeftRow) =>
    isOurs(leaseBoot) &&
    (state === "sending" ||
      (state === "running" &&
        begunRuns.some(({ run_id, boot_id }) => {
          const id = String(run_id);
          return (id === uid || id.startsWith(`${uid}:`)) && leaseBoot.startsWith(`${boot_id}/`);
        })));
  const isUnclean = boots.length > 0;
  const begun = isUnclean ? new Set(rows.filter(hasBegun).map(({ uid }) => uid)) : new Set<string>();
  const isExplained = !isUnclean || begun.size === 1;
  return {
    begun,
    marked: new Map(rows.flatMap(({ uid, note }) => (typeof note.suspect === "number" ? [[uid, note.suspect]] : []))),
    forgive: isExplained
      ? []
      : rows.filter((row) => row.state === "accepted" || row.state === "uncertain").flatMap((row) => pardon(row, now)),
  };
}

function toLeftRow({ uid, state, lease_boot, attempt, not_before, result }: Row): LeftRow {
  return {
    uid: String(uid),
    state: String(state),
    leaseBoot: String(lease_boot ?? ""),
    attempt: Number(attempt),
    notBefore: typeof not_before === "number" ? not_before : undefined,
    note: parseNote(result),
  };
}

function parseNote(text: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(text));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function pardon({ uid, state, attempt, notBefore, note }: LeftRow, now: number): StoreOp[] {
  const { crashes, ...rest } = note;
  if (typeof crashes !== "number" || crashes < 1) return [];
  return [
    {
      op: "delivery.requeue",
      uid,
      from: [state as "accepted" | "uncertain"],
      to: state as "accepted" | "uncertain",
      attempt: Math.max(0, attempt - crashes),
      result: rest as JsonObject,
      ...(notBefore === undefined ? {} : { notBefore }),
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
