import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, type SvcConfig } from "svc/sdk";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "slack";

/** One app in one workspace, as its section of the config describes it. */
export interface SlackAccount extends ChannelAccount {
  botToken: string;
  /** How messages come: over a WebSocket that the gateway opens, which needs `appToken`, or to the signed endpoint, which needs `signingSecret`. */
  mode: "socket" | "events";
  appToken?: string;
  signingSecret?: string;
  /** Address of the Web API, without a slash at its end. */
  apiRoot: string;
  /** Answers to messages in channels begin a thread below them. */
  replyInThread: boolean;
  /** Names of the app's slash commands whose text is for the agent, with their slash. */
  slashCommands: readonly string[];
  maxFileBytes: number;
  /** Channels that `groups` names, for the audit. */
  groups: readonly string[];
}

/** Largest file that is fetched or sent: the host keeps no larger ones. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;

const DEFAULT_API = "https://slack.com/api";
const NEEDED = { socket: ["botToken", "appToken"], events: ["botToken", "signingSecret"] } as const;
const KINDS = {
  botToken: [/^xoxb-[\w-]{1,250}$/, 'a bot token that begins with "xoxb-"'],
  appToken: [/^xapp-[\w-]{1,250}$/, 'an app-level token that begins with "xapp-"'],
  signingSecret: [/^[\x21-\x7e]{16,128}$/, "the signing secret of the app: at least 16 characters, no blanks"],
} as const;

/** Accounts of the section: `default` where the section itself has a bot token, and the named ones. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["botToken"]);
}

/** Keys that the account lacks. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const missing = NEEDED[modeOf(raw.mode)].filter((key) => raw[key] === undefined || raw[key] === "");
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account that lacks a token its mode needs, or has one that cannot be right */
export function resolveAccount(config: SvcConfig, accountId: string): SlackAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  const mode = modeOf(raw.mode);
  if (missing.length > 0) throw fault(`expected ${missing.join(" and ")}, as mode "${mode}" needs ${NEEDED[mode].join(" and ")}`);
  const secrets: Partial<Record<keyof typeof KINDS, string>> = {};
  for (const key of NEEDED[mode]) {
    const [pattern, expected] = KINDS[key];
    if (!pattern.test(String(raw[key]))) throw fault(`${key} cannot be one: expected ${expected}`);
    secrets[key] = String(raw[key]);
  }
  return {
    accountId,
    enabled,
    mode,
    botToken: secrets.botToken as string,
    ...(secrets.appToken === undefined ? {} : { appToken: secrets.appToken }),
    ...(secrets.signingSecret === undefined ? {} : { signingSecret: secrets.signingSecret }),
    apiRoot: typeof raw.apiRoot === "string" ? raw.apiRoot : DEFAULT_API,
    replyInThread: raw.replyInThread === true,
    slashCommands: Array.isArray(raw.slashCommands) ? raw.slashCommands.map(String) : [],
    maxFileBytes: typeof raw.maxFileBytes === "number" ? raw.maxFileBytes : MAX_FILE_BYTES,
    groups: isRecord(raw.groups) ? Object.keys(raw.groups).filter((id) => id !== "*") : [],
    ...(typeof raw.name === "string" ? { name: raw.name } : {}),
  };
}

function modeOf(value: unknown): SlackAccount["mode"] {
  return value === "events" ? "events" : "socket";
}

/** The account's values of everything that nobody may see. */
export function secretValues({ botToken, appToken, signingSecret }: SlackAccount): string[] {
  return [botToken, appToken, signingSecret].filter((value) => value !== undefined);
}
