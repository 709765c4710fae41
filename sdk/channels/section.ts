import type { SvcConfig } from "../config/root.ts";
import { isRecord } from "../is-record.ts";

/** Keys of an account as the config has them. */
export type RawAccount = Readonly<Record<string, unknown>>;

/** Id of the account whose keys stand in the section itself. */
const DEFAULT = "default";

/**
 * Returns the ids of a channel's accounts: `default` where the section itself describes one (it has all `ownKeys`), or has no named accounts at all, and the named
 * ones.
 */
export function accountIds(config: SvcConfig, channelId: string, ownKeys: readonly string[]): string[] {
  const { own, accounts } = sectionOf(config, channelId);
  const named = Object.keys(accounts);
  const isOwn = ownKeys.every((key) => own[key] !== undefined) || (named.length === 0 && Object.keys(own).length > 0);
  return [...new Set([...(isOwn ? [DEFAULT] : []), ...named])];
}

/** Returns the keys of one account: its own, and those of the section that it does not have. Keys of `nested` objects are inherited one by one. */
export function accountKeys(config: SvcConfig, channelId: string, accountId: string, nested: readonly string[] = []): RawAccount {
  const { own, accounts } = sectionOf(config, channelId);
  const account = (Object.hasOwn(accounts, accountId) && accounts[accountId]) || {};
  const merged: Record<string, unknown> = { ...own, ...account };
  for (const key of nested) {
    const [base, more] = [own[key], account[key]];
    if (isRecord(base) && isRecord(more)) merged[key] = { ...base, ...more };
  }
  return merged;
}

function sectionOf(config: SvcConfig, channelId: string): { own: RawAccount; accounts: Readonly<Record<string, RawAccount>> } {
  const section = (config.channels as Record<string, unknown>)[channelId];
  const { accounts, defaultAccount: _, ...own } = isRecord(section) ? section : {};
  return { own, accounts: isRecord(accounts) ? (accounts as Record<string, RawAccount>) : {} };
}
