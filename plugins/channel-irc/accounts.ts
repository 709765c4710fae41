import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, type SvcConfig } from "svc/sdk";
import { isNick, isRoom } from "./names.ts";
import { Pace } from "./pace.ts";
import { TIMING } from "./timing.ts";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "irc";

/** How the link is secured. Files are read at each connect, so that a renewed certificate needs no restart. */
export interface TlsSettings {
  caPath?: string;
  /** Certificate and key of the account itself, for SASL EXTERNAL. */
  certPath?: string;
  keyPath?: string;
  /** SHA-256 of certificates that are accepted whoever signed them; with one of these no authority is asked. */
  fingerprints?: string[];
  serverName?: string;
}

/** Identification to the network before the account takes part. */
export type Sasl = { mechanism: "PLAIN"; user: string; password: string } | { mechanism: "EXTERNAL" };

/** One account of a network, as its section of the config describes it. */
export interface IrcAccount extends ChannelAccount {
  host: string;
  port: number;
  /** Undefined: the link is not encrypted. */
  tls: TlsSettings | undefined;
  nick: string;
  nickAlternatives: string[];
  username: string;
  realname: string;
  /** Password of the server itself. */
  password?: string;
  sasl?: Sasl;
  rooms: Array<{ name: string; key?: string }>;
  /** Lines that may go out at once, and the time after which each further one may. */
  burstLines: number;
  lineIntervalMs: number;
}

/** Keys whose own keys are inherited one by one. */
const NESTED = ["tls", "sasl"];
const PORTS = { tls: 6697, plain: 6667 };

/** Accounts of the section: `default` where the section itself names a server and a nick, or has no accounts at all, and the named ones. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["host", "nick"]);
}

/** Keys that the account lacks. Secrets are not looked at. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId, NESTED);
  const missing = ["host", "nick"].filter((key) => raw[key] === undefined || raw[key] === "");
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account without a server or a nick, for names that no server accepts, and a flood limit that no message fits in */
export function resolveAccount(config: SvcConfig, accountId: string): IrcAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId, NESTED);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.length > 0) throw fault(`expected ${missing.join(" and ")}`);
  const nick = String(raw.nick);
  const nickAlternatives = strings(raw.nickAlternatives);
  const wrongNick = [nick, ...nickAlternatives].find((name) => !isNick(name));
  if (wrongNick !== undefined) throw fault(`"${wrongNick}" cannot be a nick`);
  const rooms = roomsOf(raw.rooms);
  const wrongRoom = rooms.find(({ name, key }) => !isRoomName(name) || (key !== undefined && !isKey(key)));
  if (wrongRoom)
    throw fault(`"${wrongRoom.name}" cannot be joined: a room begins with #, and neither it nor its key holds blanks or commas`);
  const tls = tlsOf(raw.tls);
  const sasl = saslOf(raw.sasl, nick);
  if (sasl === undefined && isRecord(raw.sasl)) throw fault("expected sasl.password, or sasl.mechanism EXTERNAL");
  if (sasl?.mechanism === "EXTERNAL" && tls?.certPath === undefined) throw fault("sasl EXTERNAL needs tls.certPath and tls.keyPath");
  const burstLines = typeof raw.burstLines === "number" ? raw.burstLines : 5;
  const lineIntervalMs = typeof raw.lineIntervalMs === "number" ? raw.lineIntervalMs : 2_000;
  if (!new Pace({ burstLines, lineIntervalMs }).carriesMessage(TIMING.sendMs))
    throw fault("burstLines and lineIntervalMs leave no time for a message of two lines: more of the one, or less of the other");
  return {
    accountId,
    enabled,
    host: String(raw.host),
    port: typeof raw.port === "number" ? raw.port : tls ? PORTS.tls : PORTS.plain,
    tls,
    nick,
    nickAlternatives,
    username: typeof raw.username === "string" ? raw.username : "svc",
    realname: typeof raw.realname === "string" ? raw.realname : nick,
    rooms,
    burstLines,
    lineIntervalMs,
    ...(typeof raw.name === "string" ? { name: raw.name } : {}),
    ...(typeof raw.password === "string" ? { password: raw.password } : {}),
    ...(sasl ? { sasl } : {}),
  };
}

/** The account's values of everything that nobody may see. */
export function secretValues({ password, sasl, rooms }: IrcAccount): string[] {
  const values = [password, sasl?.mechanism === "PLAIN" ? sasl.password : undefined, ...rooms.map(({ key }) => key)];
  return values.filter((value): value is string => value !== undefined && value !== "");
}

function tlsOf(raw: unknown): TlsSettings | undefined {
  const { enabled, ...tls } = isRecord(raw) ? raw : {};
  return enabled === false ? undefined : (tls as TlsSettings);
}

function saslOf(raw: unknown, nick: string): Sasl | undefined {
  if (!isRecord(raw)) return undefined;
  if (raw.mechanism === "EXTERNAL") return { mechanism: "EXTERNAL" };
  if (typeof raw.password !== "string") return undefined;
  return { mechanism: "PLAIN", user: typeof raw.user === "string" ? raw.user : nick, password: raw.password };
}

function roomsOf(raw: unknown): IrcAccount["rooms"] {
  return (Array.isArray(raw) ? raw : []).map((room: unknown) => {
    if (!isRecord(room)) return { name: String(room) };
    return { name: String(room.name), ...(typeof room.key === "string" ? { key: room.key } : {}) };
  });
}

const isRoomName = (name: string) => isRoom(name) && isKey(name);
const isKey = (text: string) => /^[^\p{Cc}\s,]{1,200}$/u.test(text);

function strings(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.filter((item) => typeof item === "string") : [];
}
