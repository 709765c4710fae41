import { type ChannelAccount, commonErrors, type SvcConfig } from "svc/sdk";

/** One account of the server, as its section of the config describes it. */
export interface LinesAccount extends ChannelAccount {
  host: string;
  port: number;
  token: string;
  /** First wait before a new link; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
}

type Section = Partial<Omit<LinesAccount, "accountId">> & { accounts?: Record<string, Section> };

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "lines";

const DEFAULT = "default";

function sectionOf(config: SvcConfig): Section {
  return (config as { channels?: Record<string, Section> }).channels?.[CHANNEL_ID] ?? {};
}

/** Base keys are inherited by the named accounts. */
function merged(config: SvcConfig, accountId: string): Section {
  const { accounts, ...base } = sectionOf(config);
  return { ...base, ...accounts?.[accountId] };
}

export function listAccounts(config: SvcConfig): string[] {
  const section = sectionOf(config);
  const own = section.token === undefined ? [] : [DEFAULT];
  return [...new Set([...own, ...Object.keys(section.accounts ?? {})])];
}

/** @throws {SvcError} `invalid-config` when something is missing */
export function resolveAccount(config: SvcConfig, accountId: string): LinesAccount {
  const { enabled = true, host = "127.0.0.1", port, token, reconnectMs = 1_000 } = merged(config, accountId);
  if (port === undefined || token === undefined) {
    throw commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): expected port and token` });
  }
  return { accountId, enabled, host, port, token, reconnectMs };
}

export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const section = merged(config, accountId);
  const missing = (["port", "token"] as const).filter((key) => section[key] === undefined);
  return { enabled: section.enabled ?? true, configured: missing.length === 0, missing };
}
