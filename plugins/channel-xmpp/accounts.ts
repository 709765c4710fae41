import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, type RawAccount, type SvcConfig } from "svc/sdk";
import { isBare, parseAddress } from "./address.ts";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "xmpp";

/** How the link is secured. Files are read at each connect, so that a renewed certificate needs no restart. */
export interface TlsSettings {
  /** TLS from the first byte in place of STARTTLS. */
  direct?: boolean;
  caPath?: string;
  serverName?: string;
}

/** A room to be in. */
export interface WantedRoom {
  jid: string;
  nick: string;
  password?: string;
}

/** One account, as its section of the config describes it. */
export interface XmppAccount extends ChannelAccount {
  /** `local@domain`. */
  jid: string;
  local: string;
  domain: string;
  password: string;
  /** Undefined: the servers that the domain names in the DNS. */
  host: string | undefined;
  port: number | undefined;
  /** Undefined: the link is not encrypted. */
  tls: TlsSettings | undefined;
  resource: string;
  nick: string;
  rooms: WantedRoom[];
}

const MAX_ROOMS = 100;
const needed = ["jid", "password"];

/** Returns the ids of the accounts that the section describes. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["jid"]);
}

/** Keys that the account lacks. The values of secrets are not looked at. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = mergedAccount(config, accountId);
  const missing = needed.filter((key) => raw[key] === undefined || raw[key] === "");
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account without an address or a password, and for addresses that are none */
export function resolveAccount(config: SvcConfig, accountId: string): XmppAccount {
  const raw = mergedAccount(config, accountId);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.length > 0) throw fault(`expected ${missing.join(" and ")}`);
  const jid = String(raw.jid);
  const address = isBare(jid) ? parseAddress(jid) : undefined;
  if (!address) throw fault(`jid "${jid}" is no address; expected name@example.org`);
  const nick = textOr(raw.nick, address.local);
  const rooms = roomsOf(raw.rooms, nick);
  const wrong = rooms.find((room) => !isBare(room.jid) || parseAddress(`${room.jid}/${room.nick}`) === undefined);
  if (wrong) throw fault(`room "${wrong.jid}" (nick "${wrong.nick}") is no room; expected name@conference.example.org`);
  if (rooms.length > MAX_ROOMS) throw fault(`at most ${MAX_ROOMS} rooms, found ${rooms.length}`);
  const resource = textOr(raw.resource, "svc");
  if (parseAddress(`${jid}/${resource}`) === undefined) throw fault(`resource "${resource}" holds characters that no address has`);
  if (raw.port !== undefined && raw.host === undefined) throw fault("port without host; set host, too");
  return {
    accountId,
    enabled,
    jid: `${address.local}@${address.domain}`,
    local: address.local,
    domain: address.domain,
    password: String(raw.password),
    host: typeof raw.host === "string" ? raw.host : undefined,
    port: typeof raw.port === "number" ? raw.port : undefined,
    tls: tlsOf(raw.tls),
    resource,
    nick,
    rooms: rooms.map((room) => ({ ...room, jid: room.jid.toLowerCase() })),
    ...(typeof raw.name === "string" ? { name: raw.name } : {}),
  };
}

/** The account's values of everything that nobody may see. */
export function secretValues({ password, rooms }: XmppAccount): string[] {
  const values = [password, ...rooms.flatMap((room) => room.password ?? [])];
  return values.filter((value) => value !== "");
}

/** Keys of the section are inherited by the accounts; so are those of `tls`, one by one. */
function mergedAccount(config: SvcConfig, accountId: string): RawAccount {
  return accountKeys(config, CHANNEL_ID, accountId, ["tls"]);
}

function tlsOf(raw: unknown): TlsSettings | undefined {
  const { enabled, ...tls } = isRecord(raw) ? raw : {};
  return enabled === false ? undefined : (tls as TlsSettings);
}

function roomsOf(raw: unknown, nick: string): WantedRoom[] {
  return (Array.isArray(raw) ? raw : []).map((room: unknown) => {
    if (!isRecord(room)) return { jid: String(room), nick };
    const password = typeof room.password === "string" ? { password: room.password } : {};
    return { jid: String(room.jid), nick: textOr(room.nick, nick), ...password };
  });
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value.normalize("NFC") : otherwise;
}
