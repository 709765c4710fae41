import { hostname, networkInterfaces, release } from "node:os";
import { type ConnectParams, limits } from "../protocol/frames.ts";
import type { ClientInfo } from "../types/rpc.ts";

export type PresenceEntry = Record<string, unknown> & { ts: number };

export interface Presence {
  /** The gateway first, then newest first. */
  list(): PresenceEntry[];
  version(): number;
  joined(info: ClientInfo, params: ConnectParams): boolean;
  left(info: ClientInfo): boolean;
  /** Renews rows of live connections; drops those past their time. */
  tick(): void;
}

/** Callers that come and go for one request leave no row. */
const quietModes = new Set(["cli", "backend", "probe"]);

/** Who is connected; bounded to 200 rows, 5 min without renewal. */
export function createPresence(self: { version: string; bootId: string; now(): number; isLoopback(address: string): boolean }): Presence {
  const host = hostname();
  const ip = firstAddress();
  const own: PresenceEntry = {
    host,
    ...(ip ? { ip } : {}),
    version: self.version,
    platform: `${process.platform} ${release()}`,
    mode: "gateway",
    reason: "self",
    instanceId: self.bootId,
    text: `Gateway: ${host}${ip ? ` (${ip})` : ""} · app ${self.version} · mode gateway · reason self`,
    ts: self.now(),
  };
  const rows = new Map<string, PresenceEntry>();
  let version = 1;
  return {
    version: () => version,
    list: () => [own, ...[...rows.values()].sort((a, b) => b.ts - a.ts)],
    joined(info, params) {
      if (quietModes.has(info.mode)) return false;
      rows.set(info.connId, rowOf(info, params, self));
      if (rows.size > limits.presenceMax) rows.delete(rows.keys().next().value as string);
      version += 1;
      return true;
    },
    left(info) {
      if (!rows.delete(info.connId)) return false;
      version += 1;
      return true;
    },
    tick() {
      for (const row of rows.values()) row.ts = self.now();
    },
  };
}

function rowOf(info: ClientInfo, params: ConnectParams, self: { now(): number; isLoopback(address: string): boolean }): PresenceEntry {
  const { client } = params;
  const ip = self.isLoopback(info.remote) ? {} : { ip: info.remote };
  const optional = Object.fromEntries(
    (["deviceFamily", "modelIdentifier", "timeZone", "instanceId"] as const).flatMap((k) => (client[k] ? [[k, client[k]]] : [])),
  );
  return {
    ...(client.displayName ? { host: client.displayName } : {}),
    ...ip,
    version: client.version,
    platform: client.platform,
    ...optional,
    mode: info.mode,
    clientId: info.clientId,
    roles: [info.role],
    scopes: [...info.scopes],
    reason: "connect",
    ts: self.now(),
  };
}

function firstAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find((a) => !a.internal && a.family === "IPv4")?.address;
}
