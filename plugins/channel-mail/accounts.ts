import { createHash } from "node:crypto";
import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, type RawAccount, type SvcConfig } from "svc/sdk";
import { toAddress } from "./address.ts";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "mail";

export type Security = "tls" | "starttls" | "none";

/** One of the two servers of an account. The file of `caPath` is read at each connect, so that a renewed one needs no restart. */
export interface ServerSettings {
  host: string;
  port: number;
  security: Security;
  caPath?: string;
  /** Name that the server's certificate is for. */
  serverName?: string;
  user: string;
  password?: string;
}

/** Access by tokens in place of a password. */
export interface OauthSettings {
  accessToken?: string;
  refreshToken?: string;
  tokenUrl?: string;
  clientId?: string;
  clientSecret?: string;
  scope?: string;
}

/** One mailbox that the agent reads and writes from. */
export interface MailAccount extends ChannelAccount {
  /** Address that mails of the agent come from. */
  address: string;
  /** Name beside that address. */
  fromName: string;
  imap: ServerSettings & { mailbox: string };
  smtp: ServerSettings;
  oauth?: OauthSettings;
  /** Names of the receiving server in `Authentication-Results`; what it says of a sender is believed. */
  authservIds: string[];
  acceptsUnverified: boolean;
  pollIntervalMs: number;
  maxMessageBytes: number;
}

const PORTS = { imap: { tls: 993, starttls: 143, none: 143 }, smtp: { tls: 465, starttls: 587, none: 25 } } as const;
const POLL_INTERVAL_MS = 60_000;
const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;

/** Keys whose own keys are inherited one by one. */
const NESTED = ["imap", "smtp", "oauth"];

/** Accounts of the section: `default` where the section itself names an address, or has no accounts at all, and the named ones. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["address"]);
}

/** Keys that the account lacks. Secrets are not looked at. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId, NESTED);
  const missing = [
    ...(isText(raw.address) ? [] : ["address"]),
    ...(isText(record(raw.imap).host) ? [] : ["imap.host"]),
    ...(isText(record(raw.smtp).host) ? [] : ["smtp.host"]),
    ...(texts(raw.authservId).length > 0 || believesAll(raw) ? [] : ["authservId"]),
  ];
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account without servers, credentials, or a way to know its senders */
export function resolveAccount(config: SvcConfig, accountId: string): MailAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId, NESTED);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.includes("authservId") && missing.length === 1)
    throw fault(
      "expected authservId, the name of your receiving server in Authentication-Results; or unverifiedSenders: accept, which believes every From",
    );
  if (missing.length > 0) throw fault(`expected ${missing.join(" and ")}`);
  const address = toAddress(String(raw.address));
  if (address === undefined) throw fault(`address: "${String(raw.address)}" is no mail address`);
  const oauth = oauthOf(raw.oauth);
  const password = isText(raw.password) ? raw.password : undefined;
  if (password === undefined && !oauth) throw fault("expected password, or oauth");
  if (oauth?.refreshToken !== undefined && (oauth.tokenUrl === undefined || oauth.clientId === undefined))
    throw fault("oauth.refreshToken needs oauth.tokenUrl and oauth.clientId");
  if (oauth && oauth.refreshToken === undefined && oauth.accessToken === undefined)
    throw fault("oauth: expected refreshToken, or accessToken");
  const user = isText(raw.user) ? raw.user : address;
  const server = (kind: "imap" | "smtp") => serverOf(kind, record(raw[kind]), { user, ...(password === undefined ? {} : { password }) });
  return {
    accountId,
    enabled,
    address,
    fromName: isText(raw.fromName) ? raw.fromName : "",
    imap: { ...server("imap"), mailbox: text(record(raw.imap).mailbox) ?? "INBOX" },
    smtp: server("smtp"),
    ...(oauth ? { oauth } : {}),
    authservIds: texts(raw.authservId).map((id) => id.toLowerCase()),
    acceptsUnverified: believesAll(raw),
    pollIntervalMs: typeof raw.pollIntervalMs === "number" ? raw.pollIntervalMs : POLL_INTERVAL_MS,
    maxMessageBytes: typeof raw.maxMessageBytes === "number" ? raw.maxMessageBytes : MAX_MESSAGE_BYTES,
    ...(isText(raw.name) ? { name: raw.name } : {}),
  };
}

/** The account's policy about senders that no server has judged. */
export function unverifiedSenders(config: SvcConfig, accountId: string): "accept" | "reject" {
  return believesAll(accountKeys(config, CHANNEL_ID, accountId, NESTED)) ? "accept" : "reject";
}

/** The account's values of everything that nobody may see. */
export function secretValues({ imap, smtp, oauth }: MailAccount): string[] {
  const values = [imap.password, smtp.password, oauth?.accessToken, oauth?.refreshToken, oauth?.clientSecret];
  return values.filter((value): value is string => value !== undefined && value !== "");
}

/** Names a mailbox in the keys of stored values: another one of the same account begins anew. */
export function mailboxDigest({ imap: { host, port, user, mailbox } }: MailAccount): string {
  return createHash("sha256")
    .update(JSON.stringify([host, port, user, mailbox]))
    .digest("hex")
    .slice(0, 16);
}

function serverOf(kind: "imap" | "smtp", raw: RawAccount, login: { user: string; password?: string }): ServerSettings {
  const security: Security = raw.security === "starttls" || raw.security === "none" ? raw.security : "tls";
  const { caPath, serverName } = raw;
  return {
    ...login,
    ...(isText(raw.user) ? { user: raw.user } : {}),
    ...(isText(raw.password) ? { password: raw.password } : {}),
    host: String(raw.host),
    port: typeof raw.port === "number" ? raw.port : PORTS[kind][security],
    security,
    ...(isText(caPath) ? { caPath } : {}),
    ...(isText(serverName) ? { serverName } : {}),
  };
}

function oauthOf(raw: unknown): OauthSettings | undefined {
  if (!isRecord(raw)) return undefined;
  const { accessToken, refreshToken, tokenUrl, clientId, clientSecret, scope } = raw;
  return {
    ...(isText(accessToken) ? { accessToken } : {}),
    ...(isText(refreshToken) ? { refreshToken } : {}),
    ...(isText(tokenUrl) ? { tokenUrl } : {}),
    ...(isText(clientId) ? { clientId } : {}),
    ...(isText(clientSecret) ? { clientSecret } : {}),
    ...(isText(scope) ? { scope } : {}),
  };
}

function believesAll(raw: RawAccount): boolean {
  return raw.unverifiedSenders === "accept";
}

function record(value: unknown): RawAccount {
  return isRecord(value) ? value : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter(isText);
}
