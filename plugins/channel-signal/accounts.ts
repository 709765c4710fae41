import { homedir } from "node:os";
import { join } from "node:path";
import { accountIds, accountKeys, type ChannelAccount, commonErrors, type RawAccount, type SvcConfig } from "svc/sdk";
import { isPersonId } from "./targets.ts";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "signal";

/** Address of the daemon: a socket of this machine, or TCP. */
export type Endpoint = { path: string } | { host: string; port: number };

/** One Signal account that a `signal-cli` daemon serves. */
export interface SignalAccount extends ChannelAccount {
  /** Phone number with `+`, or account id (ACI) of an account without one. */
  account: string;
  endpoint: Endpoint;
}

/** Port of `signal-cli daemon --tcp` unless it is told another one. */
const DEFAULT_PORT = 7583;

/** Returns the ids of the section's accounts. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, ["account"]);
}

/** Keys that the account lacks. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const missing = raw.account === undefined || raw.account === "" ? ["account"] : [];
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for a missing or unusable account, and for an address that is two */
export function resolveAccount(config: SvcConfig, accountId: string): SignalAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.length > 0) throw faultOf(accountId, "expected account, the phone number that the daemon serves");
  const account = String(raw.account);
  if (!isPersonId(account))
    throw faultOf(accountId, `"${account}" is no phone number with a country code, as in +4930123456, and no account id`);
  return {
    accountId,
    enabled,
    account,
    endpoint: resolveEndpoint(config, accountId),
    ...(typeof raw.name === "string" ? { name: raw.name } : {}),
  };
}

/** Address of the daemon, also of an account that still lacks its number. @throws {SvcError} `invalid-config` for an address that is two */
export function resolveEndpoint(config: SvcConfig, accountId: string): Endpoint {
  const raw = accountKeys(config, CHANNEL_ID, accountId);
  if (raw.socketPath !== undefined && (raw.host !== undefined || raw.port !== undefined))
    throw faultOf(accountId, "expected socketPath, or host and port, not both");
  return endpointOf(raw);
}

function faultOf(accountId: string, message: string): Error {
  return commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
}

function endpointOf({ socketPath, host, port }: RawAccount): Endpoint {
  if (typeof socketPath === "string") return { path: socketPath.startsWith("~/") ? join(homedir(), socketPath.slice(2)) : socketPath };
  return { host: typeof host === "string" ? host : "127.0.0.1", port: typeof port === "number" ? port : DEFAULT_PORT };
}
