import { basename } from "node:path";
import type { StoreStatus } from "svc/sdk";
import type { Notice } from "svc/sdk/internal";
import type { FileEvent } from "./file-guard.ts";
import type { Restored } from "./restore.ts";
import type { Salvaged } from "./salvage.ts";

/** An operator who looks in once a week still hears of it. */
const shownMs = 7 * 86_400_000;
const readFix = "read the message, then run svc doctor --fix to clear this notice; it disappears after a week";

/** Repair of a damaged database, in numbers. */
export function restoredFigures({ snapshot, salvaged }: Restored): NonNullable<StoreStatus["restored"]> {
  const sum = (of: Record<string, number> | undefined) => Object.values(of ?? {}).reduce((all, n) => all + n, 0);
  return {
    ...(snapshot === undefined ? {} : { snapshotAt: snapshot.at }),
    salvagedRows: sum(salvaged?.rows),
    unreadableRows: sum(salvaged?.unreadable),
  };
}

/** Notice for operators about a database that was damaged or missing. Pure. */
export function restoredNotice(restored: Restored, { path, now }: { path: string; now: number }): Notice {
  const { damaged, fault, snapshot, salvaged } = restored;
  const what = damaged
    ? `the state database was damaged (${fault}) and is kept as ${basename(damaged)}`
    : `the state database was lost (${fault})`;
  const base = snapshot
    ? `the snapshot of ${new Date(snapshot.at).toISOString()} took its place`
    : "there was no snapshot, so an empty one took its place";
  return {
    id: "state/restored",
    severity: "error",
    path,
    message: `${what}; ${base}; ${lossOf(salvaged, snapshot?.at, damaged !== undefined)}`,
    fix: readFix,
    at: now,
    until: now + shownMs,
  };
}

function lossOf(salvaged: Salvaged | undefined, since: number | undefined, hadFile: boolean): string {
  if (!hadFile || !salvaged) return since === undefined ? "everything that was stored before is lost" : "what was stored after it is lost";
  const taken = partsOf(salvaged.rows);
  const read = taken === "" ? "the damaged file had no row that differs from it" : `recovered from the damaged file: ${taken}`;
  const lost = partsOf(salvaged.unreadable);
  const losses = [
    ...(lost === "" ? [] : [`at most ${lost}`]),
    ...(salvaged.notReached.length === 0 ? [] : [`what else there is in ${salvaged.notReached.join(", ")}`]),
  ];
  const doubt = doubtOf(salvaged);
  if (losses.length === 0) return `${read}; ${doubt ?? "nothing is known to be lost"}`;
  const lostText = `could not be read there: ${losses.join(", and ")}${since === undefined ? "" : " (of these the snapshot's rows are in force)"}`;
  return [read, lostText, ...(doubt === undefined ? [] : [doubt])].join("; ");
}

/** Reason why rows may be missing that nobody could count; undefined where none can be. A page that lost its rows reads as if it had never had any. */
function doubtOf({ damaged, notReached, isChecked }: Salvaged): string | undefined {
  const tables = damaged.filter((name) => !notReached.includes(name));
  if (tables.length > 0) return `the structure of ${tables.join(", ")} is damaged there, so more rows may be missing than were counted`;
  return isChecked ? undefined : "the file is too large to be checked at a start, so more rows may be missing than were counted";
}

function partsOf(rows: Record<string, number>): string {
  return Object.entries(rows)
    .map(([table, n]) => `${n} ${table}`)
    .join(", ");
}

/** Notice for operators about a file that was deleted or replaced while the gateway ran. Pure. */
export function fileNotice(event: Exclude<FileEvent, { kind: "failed" }>, now: number): Notice {
  if (event.kind === "writtenBack") {
    const what = event.lost === "database" ? "the file of the state database was deleted" : "the log of the state database was deleted";
    return {
      id: "state/written-back",
      severity: "warning",
      path: event.path,
      message: `${what} while the gateway was running; it was written back whole, nothing is lost`,
      fix: `find out what removes files from the state directory; ${readFix}`,
      at: now,
      until: now + shownMs,
    };
  }
  return {
    id: "state/detached",
    severity: "error",
    path: event.path,
    message: detachedText(event),
    fix: "choose one of the two files as the message says, then run svc doctor --fix to clear this notice",
    at: now,
  };
}

interface Detached {
  path: string;
  foreign: string;
}

/** Explains which file is which and how to choose; by their names alone, because not every reader may learn their folder. */
export function detachedText({ path, foreign }: Detached): string {
  const [own, other] = [basename(path), basename(foreign)];
  return [
    `another file was put in the place of ${other} while the gateway was running; it was not touched, and the next start will use it`,
    `everything this gateway knows is in ${own} beside it, where it keeps writing until it stops`,
    `to keep that, stop the gateway and then, in its state directory: mv ${other} ${other}.other; mv ${own} ${other} (and ${own}-wal to ${other}-wal, if it is there)`,
    `to use the other file, restart the gateway and remove ${own}`,
  ].join("; ");
}

/** Message shown as long as a lost file could not be saved. */
export function lostFileText({ path, reason, isReplaced }: Extract<FileEvent, { kind: "failed" }>): string {
  const name = basename(path);
  const what = isReplaced ? `another file was put in the place of ${name}` : `${name} was deleted`;
  return `${what} while the gateway was running, and what it knows could not be saved yet (${reason}); do not stop it before this is gone; it is tried again every 20 s`;
}
