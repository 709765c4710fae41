import { AccountRefusedError, isRecord } from "svc/sdk";
import type { SignalAccount } from "./accounts.ts";
import { DaemonError, openRpcLink, type RpcLink } from "./rpc-link.ts";
import type { SignalTiming } from "./timing.ts";

/** Code of a JSON-RPC peer that does not know a method. */
export const METHOD_NOT_FOUND = -32_601;

/** A daemon that serves the account. */
export interface Daemon {
  link: RpcLink;
  /** Ids by which the account is known to others: its number, its account id, or both. */
  ownIds: ReadonlySet<string>;
  version: string;
  /** Calls a method for the account. @throws as `RpcLink.request` */
  call(method: string, params?: object): Promise<unknown>;
}

interface OpenDaemonOptions {
  account: SignalAccount;
  timing: SignalTiming;
  /** Closes the link. */
  signal: AbortSignal;
  onNotification(method: string, params: unknown): void;
}

/**
 * Connects to a daemon and makes sure that it serves the account.
 * @throws {AccountRefusedError} when it does not; {Error} when there is no link in time
 */
export async function openDaemon({ account, timing, signal, onNotification }: OpenDaemonOptions): Promise<Daemon> {
  const link = await openRpcLink({ endpoint: account.endpoint, timing, signal, onNotification });
  try {
    const version = versionOf(await link.request("version", {}));
    const { ids, isShared } = await identify(link, account.account);
    // A daemon for one account takes no `account` for granted: it was told at its start.
    const own = isShared ? { account: account.account } : {};
    return { link, version, ownIds: ids, call: (method, params = {}) => link.request(method, { ...own, ...params }) };
  } catch (error) {
    link.close();
    throw error;
  }
}

/** Finds the account among those of the daemon. One that was started for a single account does not list any. */
async function identify(link: RpcLink, account: string): Promise<{ ids: Set<string>; isShared: boolean }> {
  const known = await servedAccounts(link);
  if (!known) return { ids: new Set([account]), isShared: false };
  const own = known.find((ids) => ids.includes(account));
  if (!own)
    throw new AccountRefusedError(
      `the daemon does not serve ${account}: link it with svc channels login signal, or register it with signal-cli`,
    );
  return { ids: new Set([account, ...own]), isShared: true };
}

/** The ids of each account that a daemon serves; undefined for one that was started for a single account and does not say. */
export async function servedAccounts(link: RpcLink): Promise<string[][] | undefined> {
  const listed = await link.request("listAccounts", {}).catch((error: unknown) => {
    if (error instanceof DaemonError && error.code === METHOD_NOT_FOUND) return undefined;
    throw error;
  });
  if (!Array.isArray(listed)) return undefined;
  return listed.filter(isRecord).map((one) => [one.number, one.aci, one.uuid].filter((id): id is string => typeof id === "string"));
}

function versionOf(answer: unknown): string {
  return isRecord(answer) && typeof answer.version === "string" ? answer.version.slice(0, 40) : "unknown";
}
