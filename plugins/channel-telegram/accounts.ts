import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, type SvcConfig } from "svc/sdk";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "telegram";

/** Where Telegram sends messages to. */
export interface WebhookSettings {
  url: string;
  secret: string;
}

/** One bot, as its section of the config describes it. */
export interface TelegramAccount extends ChannelAccount {
  token: string;
  apiRoot: string;
  /** Undefined: long polling. */
  webhook?: WebhookSettings;
  replaceWebhook: boolean;
  maxFileBytes: number;
}

/** Largest file that the Bot API gives out (core.telegram.org/bots/api#getfile). */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** Accounts of the section: `default` where the section itself has a token, and the named ones. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["token"]);
}

/** Keys that the account lacks. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId, ["webhook"]);
  const missing = raw.token === undefined || raw.token === "" ? ["token"] : [];
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account without a token, or one that cannot be a token */
export function resolveAccount(config: SvcConfig, accountId: string): TelegramAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId, ["webhook"]);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.length > 0) throw fault("expected token, which BotFather gives out");
  const token = String(raw.token);
  // It becomes a part of addresses.
  if (!/^[\w:-]{1,200}$/.test(token)) throw fault("token cannot be one: expected digits, a colon, letters, digits, _ and -");
  const { url, secret } = isRecord(raw.webhook) ? raw.webhook : {};
  return {
    accountId,
    enabled,
    token,
    apiRoot: typeof raw.apiRoot === "string" ? raw.apiRoot : "https://api.telegram.org",
    replaceWebhook: raw.replaceWebhook === true,
    maxFileBytes: typeof raw.maxFileBytes === "number" ? raw.maxFileBytes : MAX_FILE_BYTES,
    ...(typeof url === "string" && typeof secret === "string" ? { webhook: { url, secret } } : {}),
    ...(typeof raw.name === "string" ? { name: raw.name } : {}),
  };
}

/** The account's values of everything that nobody may see. */
export function secretValues({ token, webhook }: TelegramAccount): string[] {
  return [token, ...(webhook ? [webhook.secret] : [])];
}
