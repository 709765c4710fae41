import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, type SvcConfig } from "svc/sdk";
import { isSnowflake } from "./ids.ts";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "discord";

/** One bot, as its section of the config describes it. */
export interface DiscordAccount extends ChannelAccount {
  token: string;
  /** Address of the API, without its version. */
  apiRoot: string;
  /** The text of messages that do not name the bot is asked for. */
  messageContent: boolean;
  slashCommands: boolean;
  /** Kinds of mentions that notify. */
  allowedMentions: readonly string[];
  maxFileBytes: number;
  /** Channels that are named below `groups`: the audit looks at them. */
  groupIds: readonly string[];
}

/** Largest file that a bot may send where nobody has paid for more (discord.com/developers/docs/reference#uploading-files). */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Accounts of the section: `default` where the section itself has a token, and the named ones. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["token"]);
}

/** Keys that the account lacks. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const missing = raw.token === undefined || raw.token === "" ? ["token"] : [];
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account without a token, or one that cannot be a token */
export function resolveAccount(config: SvcConfig, accountId: string): DiscordAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.length > 0) throw fault("expected token, which the page Bot of the Developer Portal gives out");
  // It becomes a header. People copy it with the word before it.
  const token = String(raw.token).replace(/^Bot /, "");
  if (!/^[\w.-]{1,300}$/.test(token)) throw fault("token cannot be one: expected letters, digits, _, - and two dots");
  return {
    accountId,
    enabled,
    token,
    apiRoot: typeof raw.apiRoot === "string" ? raw.apiRoot : "https://discord.com/api",
    messageContent: raw.messageContent !== false,
    slashCommands: raw.slashCommands !== false,
    allowedMentions: Array.isArray(raw.allowedMentions) ? raw.allowedMentions.map(String) : [],
    maxFileBytes: typeof raw.maxFileBytes === "number" ? raw.maxFileBytes : MAX_FILE_BYTES,
    groupIds: isRecord(raw.groups) ? Object.keys(raw.groups).filter(isSnowflake) : [],
    ...(typeof raw.name === "string" ? { name: raw.name } : {}),
  };
}

/** Names the bot: the first part of a token is its id, and stays when the token is made anew. */
export function identityOf({ apiRoot, token }: DiscordAccount): string {
  return `${apiRoot}/${token.split(".")[0]}`;
}
