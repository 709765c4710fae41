import { hostname } from "node:os";
import { accountKeys, type ChannelLogin, isRecord, type LoginStep, type PluginKv } from "svc/sdk";
import { CHANNEL_ID, resolveEndpoint } from "./accounts.ts";
import { METHOD_NOT_FOUND, servedAccounts } from "./daemon.ts";
import { DaemonError, openRpcLink, type RpcLink } from "./rpc-link.ts";
import { isPersonId } from "./targets.ts";
import type { SignalTiming } from "./timing.ts";

/** Accounts that were linked from here, by their id in the config. */
export type LinkedAccounts = Pick<PluginKv, "get" | "set" | "delete">;

interface LinkingDeps {
  timing: SignalTiming;
  linked: LinkedAccounts;
}

/**
 * Makes the daemon a device of somebody's account: its QR code is scanned in Signal's app. A code that has run out is replaced by the next one.
 * @throws {Error} when the daemon cannot link accounts, or another account was linked than the config names
 */
export async function* linkDevice(login: ChannelLogin, { timing, linked }: LinkingDeps): AsyncGenerator<LoginStep, void, undefined> {
  const { config, accountId, signal } = login;
  const { account } = accountKeys(config, CHANNEL_ID, accountId);
  const link = await openLink(login, timing);
  try {
    const served = await servedAccounts(link);
    if (!served)
      throw new Error("the daemon was started for one account (-a): start it without an account, as only such a one can link others");
    const present = typeof account === "string" && served.some((ids) => ids.includes(account));
    if (present) {
      yield { kind: "done", identity: account, note: "The daemon serves this account already; nothing was linked." };
      return;
    }
    for (;;) {
      signal.throwIfAborted();
      const uri = await newLinkUri(link);
      yield { kind: "qr", text: uri };
      const number = await finishLink(link, uri, timing);
      if (number === undefined) continue;
      await linked.set(keyOf(accountId), number);
      if (typeof account === "string" && account !== "" && account !== number && !(await servesAs(link, account, number)))
        throw new Error(
          `${number} was linked, but channels.${CHANNEL_ID} names another account: change its key account, or sign out and link the other one`,
        );
      const note =
        account === undefined || account === ""
          ? `Now: svc config set channels.${CHANNEL_ID}${placeOf(accountId)}.account ${number}`
          : undefined;
      yield { kind: "done", identity: number, ...(note === undefined ? {} : { note }) };
      return;
    }
  } finally {
    link.close();
  }
}

/** Takes the daemon off an account that was linked from here, with its keys; another one is left alone. */
export async function unlinkDevice(login: ChannelLogin, { timing, linked }: LinkingDeps): Promise<boolean> {
  const account = await linked.get<string>(keyOf(login.accountId));
  if (typeof account !== "string" || !isPersonId(account)) return false;
  const link = await openLink(login, timing);
  try {
    const served = await servedAccounts(link);
    // Signal stops sending to this device; then its keys are deleted here, which an earlier try may not have come to.
    if (served?.some((ids) => ids.includes(account))) await link.request("unregister", { account });
    await link.request("deleteLocalAccountData", { account });
  } finally {
    link.close();
  }
  await linked.delete(keyOf(login.accountId));
  return true;
}

function openLink({ config, accountId, signal }: ChannelLogin, timing: SignalTiming): Promise<RpcLink> {
  return openRpcLink({ endpoint: resolveEndpoint(config, accountId), timing, signal, onNotification: () => undefined });
}

async function newLinkUri(link: RpcLink): Promise<string> {
  const answer = await link.request("startLink", {}).catch((error: unknown) => {
    if (error instanceof DaemonError && error.code === METHOD_NOT_FOUND)
      throw new Error("this version of signal-cli cannot link devices by its daemon");
    throw error;
  });
  const uri = isRecord(answer) ? answer.deviceLinkUri : undefined;
  if (typeof uri !== "string" || !/^sgnl:\/\/linkdevice\?[\x21-\x7e]{1,2000}$/.test(uri))
    throw new Error("the daemon gave no link for a new device");
  return uri;
}

/** @returns the number of the account; undefined when the code has run out */
async function finishLink(link: RpcLink, deviceLinkUri: string, timing: SignalTiming): Promise<string | undefined> {
  const params = { deviceLinkUri, deviceName: `svc on ${hostname()}`.slice(0, 50) };
  try {
    const answer = await link.request("finishLink", params, timing.linkMs);
    const number = isRecord(answer) ? answer.number : undefined;
    if (typeof number !== "string" || !isPersonId(number)) throw new Error("the daemon did not say which account was linked");
    return number;
  } catch (error) {
    if (error instanceof DaemonError && /timed out/i.test(error.message)) return undefined;
    throw error;
  }
}

/** The config may name the account by its id in place of its number. */
async function servesAs(link: RpcLink, account: string, number: string): Promise<boolean> {
  return (await servedAccounts(link))?.some((ids) => ids.includes(account) && ids.includes(number)) === true;
}

function placeOf(accountId: string): string {
  return accountId === "default" ? "" : `.accounts.${accountId}`;
}

function keyOf(accountId: string): string {
  return `linked/${accountId}`;
}
