import { hostname, networkInterfaces, release } from "node:os";
import { shownName } from "../../sdk/internal/shown-name.ts";
import { type ConnectParams, limits } from "../../sdk/protocol/frames.ts";
import type { PresenceBeacon } from "../../sdk/types/gateway.ts";
import type { ClientInfo } from "../../sdk/types/rpc.ts";
import { beaconKey, presenceKey, readBeacon } from "./presence-beacon.ts";

/** One row as it goes over the wire. */
export type PresenceEntry = Record<string, unknown> & { ts: number };

/** List of clients and beacons that are here. */
export interface Presence {
  /** The gateway first, then newest first. */
  list(): readonly PresenceEntry[];
  /** Counts changes. */
  version(): number;
  /** True when it made a difference. */
  joined(info: ClientInfo, params: ConnectParams): boolean;
  left(info: ClientInfo): boolean;
  /** Takes a beacon from a client that may have no connection. */
  beacon(beacon: PresenceBeacon): void;
  /** Renews rows of live connections; drops those past their time. */
  tick(): void;
  /** Called when a beacon or the passing of time changed something. */
  watch(listener: () => void): void;
}

export interface PresenceOptions {
  version: string;
  bootId: string;
  /** Epoch ms, for display. */
  now(): number;
  /** Clock for ages. */
  monotonic(): number;
  isLoopback(address: string): boolean;
}

interface Row {
  entry: PresenceEntry;
  /** Monotonic. */
  renewedAt: number;
  /** Live connections it stands for. */
  connections: Set<string>;
}

/** Callers that come and go for one request leave no row. */
const quietModes = new Set(["cli", "backend", "probe"]);

/**
 * Keeps the list of who is connected or was heard of: an operator has a row per connection, which goes with it; a node has one row however often it comes, and a beacon
 * one per sender. At most 200, each 5 min without renewal.
 */
export function createPresence(options: PresenceOptions): Presence {
  const own = ownRow(options);
  const rows = new Map<string, Row>();
  const listeners: Array<() => void> = [];
  let version = 1;
  let listed: readonly PresenceEntry[] | undefined;

  const changed = () => {
    version += 1;
    listed = undefined;
  };
  const put = (key: string, said: PresenceEntry, connId?: string) => {
    const before = rows.get(key);
    const entry = before ? merged(before.entry, said) : said;
    const connections = before?.connections ?? new Set<string>();
    if (connId !== undefined) connections.add(connId);
    rows.delete(key);
    rows.set(key, { entry, renewedAt: options.monotonic(), connections });
    if (rows.size > limits.presenceMax) rows.delete(oldestOf(rows));
    changed();
  };

  return {
    version: () => version,
    list: () => (listed ??= [own, ...[...rows.values()].map((row) => row.entry).sort((a, b) => b.ts - a.ts)]),
    joined(info, params) {
      if (quietModes.has(info.mode)) return false;
      put(keyOf(info), entryOf(info, params, options), info.connId);
      return true;
    },
    left(info) {
      const key = keyOf(info);
      const row = rows.get(key);
      if (!row?.connections.delete(info.connId)) return false;
      if (info.role === "operator") rows.delete(key);
      // A node is known for a while after it went.
      else if (row.connections.size === 0) row.entry = { ...row.entry, reason: "disconnect", ts: options.now() };
      changed();
      return true;
    },
    beacon(given) {
      const said = readBeacon(given);
      const { ip, ...rest } = said;
      put(beaconKey(said), { ...rest, ...(ip === undefined || options.isLoopback(ip) ? {} : { ip }), ts: options.now() });
      for (const listener of listeners) listener();
    },
    tick() {
      const [ts, now] = [options.now(), options.monotonic()];
      const before = rows.size;
      for (const [key, row] of rows) {
        if (row.connections.size > 0) Object.assign(row, { entry: { ...row.entry, ts }, renewedAt: now });
        else if (now - row.renewedAt > limits.presenceTtlMs) rows.delete(key);
      }
      listed = undefined;
      if (rows.size === before) return;
      changed();
      for (const listener of listeners) listener();
    },
    watch: (listener) => void listeners.push(listener),
  };
}

function ownRow({ version, bootId, now }: PresenceOptions): PresenceEntry {
  const host = hostname();
  const ip = firstAddress();
  return {
    host,
    ...(ip ? { ip } : {}),
    version,
    platform: `${process.platform} ${release()}`,
    mode: "gateway",
    reason: "self",
    instanceId: bootId,
    text: `Gateway: ${host}${ip ? ` (${ip})` : ""} · app ${version} · mode gateway · reason self`,
    ts: now(),
  };
}

function keyOf(info: ClientInfo): string {
  return presenceKey(info.role === "operator" ? info.connId : (info.deviceId ?? info.instanceId ?? info.connId));
}

function entryOf(info: ClientInfo, { client }: ConnectParams, { now, isLoopback }: PresenceOptions): PresenceEntry {
  const ip = isLoopback(info.remote) ? {} : { ip: info.remote };
  const optional = Object.fromEntries(
    (["deviceFamily", "modelIdentifier", "timeZone", "instanceId"] as const).flatMap((k) => (client[k] ? [[k, shownName(client[k])]] : [])),
  );
  return {
    ...(client.displayName ? { host: shownName(client.displayName) } : {}),
    ...ip,
    version: shownName(client.version),
    platform: shownName(client.platform),
    ...optional,
    mode: info.mode,
    clientId: info.clientId,
    ...(info.deviceId === undefined ? {} : { deviceId: info.deviceId }),
    roles: [info.role],
    scopes: [...info.scopes],
    reason: "connect",
    ts: now(),
  };
}

/** Maximum length of each list in one row; the newest are kept, so that a changing client cannot make it grow for ever. */
const MAX_NAMES = 32;

/** Merges a beacon into what was known: new facts replace old ones, roles and scopes are joined. */
function merged(before: PresenceEntry, said: PresenceEntry): PresenceEntry {
  const both = Object.fromEntries(
    (["roles", "scopes"] as const).flatMap((key) => {
      const names = [...textsOf(before[key]), ...textsOf(said[key])];
      return names.length > 0 ? [[key, [...new Set(names)].slice(-MAX_NAMES)]] : [];
    }),
  );
  return { ...before, ...said, ...both };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function oldestOf(rows: ReadonlyMap<string, Row>): string {
  const [first, ...rest] = rows;
  let [key, oldest] = first as [string, Row];
  for (const [other, row] of rest) if (row.renewedAt < oldest.renewedAt) [key, oldest] = [other, row];
  return key;
}

function firstAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find((a) => !a.internal && a.family === "IPv4")?.address;
}
