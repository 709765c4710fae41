import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

/** Figures of a gateway at one moment. */
export interface Sample {
  /** Minutes since the first one, in the gateway's own time. */
  minute: number;
  pssMb: number;
  /** Memory that the process has written itself: nothing of the program or a file, so that other processes do not move it. */
  ownMb: number;
  /** Heap and buffers after a collection. */
  heapMb: number;
  descriptors: number;
  /** Active timers, and everything else that keeps an event loop alive. */
  timers: number;
  handles: number;
  dbMb: number;
  walMb: number;
  sessions: number;
  messages: number;
  /** Rows of runs, deliveries and remembered keys, which are kept for a day. */
  ledger: number;
  /** Messages from channels, which are kept for a week so that one that comes again is known; they still grow in number after a day. */
  inbound: number;
  /** The database without what those messages and the audit log say, which keeps 100,000 entries. */
  dayDbMb: number;
  /** Kilobytes of each table and index, and of the values of each scope of `kv`. */
  tables: Readonly<Record<string, number>>;
}

export type Figure = Exclude<keyof Sample, "tables">;

/** Answer of the plugin of `soakProbe`. */
export interface InProcess {
  heapBytes: number;
  resources: Record<string, number>;
}

/** Tells what its process holds, after a collection. */
export const soakProbe = `
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { definePlugin, z } from "svc/sdk";
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
export default definePlugin({ id: "probe", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  ctx.registerRpc({ method: "probe.look", scope: "read", params: z.strictObject({}), handler: async () => {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
    gc();
    const { heapUsed, external } = process.memoryUsage();
    const resources = {};
    for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
    return { heapBytes: heapUsed + external, resources };
  } });
} });`;

const MB = 1024 * 1024;
const AUDIT = "gateway/audit";

export function takeSample({
  pid,
  stateDir,
  inside,
  minute,
}: {
  pid: number;
  stateDir: string;
  inside: InProcess;
  minute: number;
}): Sample {
  const { Timeout: timers = 0, Immediate: _, ...others } = inside.resources;
  const database = join(stateDir, "state.sqlite");
  const memory = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const { lastingBytes, ...rows } = rowsIn(database);
  const dbBytes = sizeOf(database);
  const mbOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(memory)?.[1]) / 1024;
  return {
    minute,
    pssMb: mbOf("Pss"),
    ownMb: mbOf("Anonymous"),
    heapMb: inside.heapBytes / MB,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    timers,
    handles: Object.values(others).reduce((sum, n) => sum + n, 0),
    dbMb: dbBytes / MB,
    dayDbMb: (dbBytes - lastingBytes) / MB,
    walMb: sizeOf(`${database}-wal`) / MB,
    ...rows,
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function rowsIn(path: string): Pick<Sample, "sessions" | "messages" | "ledger" | "inbound" | "tables"> & { lastingBytes: number } {
  const db = new Database(path, { readonly: true });
  try {
    const count = (what: string) => db.prepare(`SELECT count(*) FROM ${what}`).pluck().get() as number;
    const bytes = (column: string) => `coalesce(sum(length(CAST(${column} AS BLOB))), 0)`;
    const scopes = db
      .prepare(`SELECT scope, ${bytes("value")} FROM kv GROUP BY scope`)
      .raw()
      .all() as [string, number][];
    const payloads = db
      .prepare(`SELECT ${bytes("payload")} FROM deliveries WHERE dir = 'in'`)
      .pluck()
      .get() as number;
    const pages = db.prepare("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").raw().all() as [string, number][];
    return {
      sessions: count("sessions"),
      messages: count("messages"),
      ledger: count("runs") + count("deliveries WHERE dir <> 'in'") + count("idempotency"),
      inbound: count("deliveries WHERE dir = 'in'"),
      // Counts contents alone: the rows' own bytes and indexes stay in the figure that is judged.
      lastingBytes: payloads + (scopes.find(([scope]) => scope === AUDIT)?.[1] ?? 0),
      tables: Object.fromEntries(
        [...pages, ...scopes.map(([scope, size]): [string, number] => [`kv ${scope}`, size])].map(([name, size]) => [
          name,
          Math.round(size / 1024),
        ]),
      ),
    };
  } finally {
    db.close();
  }
}

/** Growth over a series: the median of the slopes between all pairs (Theil and Sen), which a few wild samples do not move, times its length. */
export function growth(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const slopes: number[] = [];
  for (const [i, a] of samples.entries())
    for (const b of samples.slice(i + 1)) if (b.minute > a.minute) slopes.push((of(b) - of(a)) / (b.minute - a.minute));
  slopes.sort((a, b) => a - b);
  const length = (samples.at(-1)?.minute ?? 0) - (samples[0]?.minute ?? 0);
  return (slopes[Math.floor(slopes.length / 2)] ?? 0) * length;
}

const columns = [
  "minute",
  "pssMb",
  "ownMb",
  "heapMb",
  "descriptors",
  "timers",
  "handles",
  "dbMb",
  "walMb",
  "sessions",
  "messages",
  "ledger",
  "inbound",
] as const;

/** Tables and indexes that grew, in kilobytes, most first. */
export function grownTables(samples: readonly Sample[]): [name: string, kilobytes: number][] {
  const [first, last] = [samples[0]?.tables ?? {}, samples.at(-1)?.tables ?? {}];
  return Object.entries(last)
    .map(([name, size]): [string, number] => [name, size - (first[name] ?? 0)])
    .filter(([, grown]) => grown > 0)
    .sort((a, b) => b[1] - a[1]);
}

/** At most `rows` samples, evenly chosen, first and last among them. */
export function table(samples: readonly Sample[], rows = 20): string {
  const step = Math.max(1, (samples.length - 1) / (rows - 1));
  const chosen = [...new Set(Array.from({ length: rows }, (_, i) => Math.min(samples.length - 1, Math.round(i * step))))];
  const cells = chosen.map((i) =>
    columns.map((name) => {
      const value = samples[i]?.[name] ?? 0;
      return Number.isInteger(value) ? String(value) : value.toFixed(name === "minute" ? 0 : 1);
    }),
  );
  return [[...columns], ...cells].map((row) => row.map((cell) => cell.padStart(11)).join(" ")).join("\n");
}
