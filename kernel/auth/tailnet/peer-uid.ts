import { readFile } from "node:fs/promises";

/** Two ends of one connection of this machine to itself. */
export interface LocalConnection {
  /** Port that the other end uses. */
  remotePort: number;
  /** Port of this process. */
  localPort: number;
}

/** User whose process holds the other end of a connection over loopback; undefined where the system does not tell. */
export async function peerUid(connection: LocalConnection, procRoot = "/proc"): Promise<number | undefined> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`${procRoot}/net/${name}`, "utf8").catch(() => "")));
  for (const table of tables) {
    const uid = uidIn(table, connection);
    if (uid !== undefined) return uid;
  }
  return undefined;
}

/** The row of the other end has the ports the other way round. Pure. */
export function uidIn(table: string, { remotePort, localPort }: LocalConnection): number | undefined {
  const [near, far] = [remotePort, localPort].map((port) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`) as [string, string];
  for (const row of table.split("\n")) {
    const cells = row.trim().split(/\s+/, 8);
    if (cells[1]?.endsWith(near) && cells[2]?.endsWith(far)) return Number(cells[7]);
  }
  return undefined;
}
