import type { Link } from "./database.ts";

/** Facts about a server that decide whether it may keep the state. */
export interface ServerFacts {
  version: string;
  /** Such as 150018. */
  versionNumber: number;
  fsync: string;
  synchronousCommit: string;
  fullPageWrites: string;
  encoding: string;
  maxConnections: number;
  isStandby: boolean;
  /** Its clock minus ours, in milliseconds. */
  clockOffsetMs: number;
}

const oldestVersion = 150_000;
const clockLimits = { warnMs: 1_000, refuseMs: 30_000 };

/** Reads the facts. @param now the wall clock of this machine */
export async function readServerFacts(link: Link, now: () => number): Promise<ServerFacts> {
  const sent = now();
  const [row] =
    await link.query(`SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('server_encoding') AS encoding, current_setting('max_connections')::integer AS max_connections,
    pg_is_in_recovery()::integer AS standby, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`);
  const between = (sent + now()) / 2;
  return {
    version: String(row?.version),
    versionNumber: Number(row?.number),
    fsync: String(row?.fsync),
    synchronousCommit: String(row?.synchronous_commit),
    fullPageWrites: String(row?.full_page_writes),
    encoding: String(row?.encoding),
    maxConnections: Number(row?.max_connections),
    isStandby: Number(row?.standby) === 1,
    clockOffsetMs: Math.round(Number(row?.now) - between),
  };
}

/** Reason why a server may not keep the state; undefined: it may. */
export function unsuitability(facts: ServerFacts): string | undefined {
  if (facts.versionNumber < oldestVersion) return `it is PostgreSQL ${facts.version}; expected 15 or newer`;
  if (facts.encoding !== "UTF8") return `its encoding is ${facts.encoding}; expected UTF8: create the database with ENCODING 'UTF8'`;
  if (facts.fsync !== "on") return "fsync is off, so a crash of the server would lose what was acknowledged; set fsync = on";
  if (facts.fullPageWrites !== "on") return "full_page_writes is off, so a crash of the server may damage it; set full_page_writes = on";
  if (facts.synchronousCommit === "off")
    return "synchronous_commit is off, so a crash of the server would lose what was acknowledged; set synchronous_commit = on for this role";
  if (Math.abs(facts.clockOffsetMs) > clockLimits.refuseMs)
    return `its clock is ${facts.clockOffsetMs} ms ahead of this machine's; at most ${clockLimits.refuseMs} are accepted: set both by NTP`;
  return undefined;
}

/** Warning about clocks that differ; undefined: they agree well enough. */
export function clockWarning({ clockOffsetMs }: Pick<ServerFacts, "clockOffsetMs">): string | undefined {
  if (Math.abs(clockOffsetMs) <= clockLimits.warnMs) return undefined;
  return `the clock of the database is ${clockOffsetMs} ms ahead of this machine's; set both by NTP`;
}
