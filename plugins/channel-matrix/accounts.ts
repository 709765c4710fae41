import { createHash } from "node:crypto";
import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, type SvcConfig } from "svc/sdk";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "matrix";

/** Way to prove who the account is. */
export type Credentials = { accessToken: string } | { password: string };

/** Invitations that are accepted: what the rules for messages would let in. */
export interface InvitePolicy {
  dmPolicy: "pairing" | "allowlist" | "open" | "disabled";
  allowFrom: readonly string[];
  groupPolicy: "allowlist" | "open" | "disabled";
  /** Rooms of the config; `*` stands for those that are not named. */
  groups: ReadonlyMap<string, { enabled: boolean }>;
}

/** One Matrix account, as its section of the config describes it. */
export interface MatrixAccount extends ChannelAccount {
  /** Address without a slash at its end. */
  homeserver: string;
  userId: string;
  credentials: Credentials;
  deviceName: string;
  maxFileBytes: number;
  invites: InvitePolicy;
}

/** Largest file that is taken or sent. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** Accounts of the section: `default` where the section itself has a user, and the named ones. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["homeserver", "userId"]);
}

/** Keys that the account lacks. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const missing = ["homeserver", "userId"].filter((key) => !isText(raw[key]));
  if (!isSet(raw.accessToken) && !isSet(raw.password)) missing.push("accessToken");
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account without a homeserver, user or credentials */
export function resolveAccount(config: SvcConfig, accountId: string): MatrixAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.length > 0) throw fault(`expected ${missing.join(" and ").replace("accessToken", "accessToken or password")}`);
  const { accessToken, password } = raw;
  if (isText(accessToken) && isText(password)) throw fault("expected accessToken or password, not both");
  const homeserver = String(raw.homeserver).replace(/\/$/, "");
  if (!URL.canParse(homeserver)) throw fault("homeserver is no address; expected one such as https://matrix.example.org");
  if (!/^@[^\s:]+:\S+$/.test(String(raw.userId))) throw fault("userId is none; expected one such as @agent:example.org");
  return {
    accountId,
    enabled,
    homeserver,
    userId: String(raw.userId),
    credentials: isText(accessToken) ? { accessToken } : { password: String(password) },
    deviceName: isText(raw.deviceName) ? raw.deviceName : "svc",
    maxFileBytes: typeof raw.maxFileBytes === "number" ? raw.maxFileBytes : MAX_FILE_BYTES,
    invites: invitePolicyOf(config, raw),
    ...(isText(raw.name) ? { name: raw.name } : {}),
  };
}

/** The account's values of everything that nobody may see. */
export function secretValues({ credentials }: MatrixAccount): string[] {
  return Object.values(credentials);
}

/** Names an account in the keys of stored values: another user, or another server, begins anew. */
export function accountDigest({ homeserver, userId }: MatrixAccount): string {
  return createHash("sha256")
    .update(JSON.stringify([homeserver, userId]))
    .digest("hex")
    .slice(0, 16);
}

function invitePolicyOf({ channels }: SvcConfig, raw: Readonly<Record<string, unknown>>): InvitePolicy {
  const defaults: Partial<SvcConfig["channels"]["defaults"]> = channels.defaults ?? {};
  const groups = isRecord(raw.groups) ? Object.entries(raw.groups) : [];
  return {
    dmPolicy: (raw.dmPolicy as InvitePolicy["dmPolicy"] | undefined) ?? defaults.dmPolicy ?? "pairing",
    allowFrom: Array.isArray(raw.allowFrom) ? raw.allowFrom.filter(isText) : [],
    groupPolicy: (raw.groupPolicy as InvitePolicy["groupPolicy"] | undefined) ?? defaults.groupPolicy ?? "allowlist",
    groups: new Map(groups.map(([id, group]) => [id, { enabled: !isRecord(group) || group.enabled !== false }])),
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== "";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
