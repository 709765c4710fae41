import { accountIds, accountKeys, type ChannelAccount, commonErrors, type SvcConfig } from "svc/sdk";

/** One account of the server, as its section of the config describes it. */
export interface LinesAccount extends ChannelAccount {
  host: string;
  port: number;
  token: string;
  /** First wait before a new link; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
}

type Section = Partial<Omit<LinesAccount, "accountId">>;

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "lines";

/** Base keys are inherited by the named accounts. */
function keysOf(config: SvcConfig, accountId: string): Section {
  return accountKeys(config, CHANNEL_ID, accountId);
}

export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["token"]);
}

/** @throws {SvcError} `invalid-config` when something is missing */
export function resolveAccount(config: SvcConfig, accountId: string): LinesAccount {
  const { enabled = true, host = "127.0.0.1", port, token, reconnectMs = 1_000 } = keysOf(config, accountId);
  if (port === undefined || token === undefined) {
    throw commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): expected port and token` });
  }
  return { accountId, enabled, host, port, token, reconnectMs };
}

export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const section = keysOf(config, accountId);
  const missing = (["port", "token"] as const).filter((key) => section[key] === undefined);
  return { enabled: section.enabled ?? true, configured: missing.length === 0, missing };
}
