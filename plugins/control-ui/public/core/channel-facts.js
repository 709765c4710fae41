import { texts } from "../texts/parts.js";
import { age, count, list, plural } from "./format.js";

/**
 * Facts shown about channels. Pure.
 *
 * @typedef {{ accountId: string, name?: string, enabled: boolean, configured: boolean, missing?: string[], running: boolean,
 *   lifecycle: "starting" | "ready" | "recovering" | "blocked" | "stopped", stoppedByHand?: boolean, restarts: number, reconnectAttempts: number,
 *   lastInboundAt?: number, lastOutboundAt?: number, lastError?: string, identity?: string, queueDepth: number, dmPolicy: string }} Account
 * @typedef {{ channelOrder: string[], channelMeta?: Array<{ id: string, canLogin?: boolean }>, channelLabels: Record<string, string>, channels: Record<string, { error?: string }>,
 *   channelAccounts: Record<string, Account[]> }} Status
 * @typedef {{ channel: string, accountId: string, code: string, senderId: string, senderName?: string, requestedAt: number, expiresAt: number }} Request
 * @typedef {{ channel: string, accountId: string, senderId: string, senderName?: string, approvedAt: number }} Paired
 * @typedef {{ word: string, level: "ok" | "info" | "warn" | "bad" | "busy" | "" }} State
 */

/** A word and a colour for how an account is. @param {Account} account @returns {State} */
export function stateOf({ enabled, configured, lifecycle, stoppedByHand }) {
  if (!enabled) return { word: texts.disabled, level: "" };
  if (!configured) return { word: texts.incomplete, level: "warn" };
  if (lifecycle === "ready") return { word: texts.ready, level: "ok" };
  if (lifecycle === "starting") return { word: texts.starting, level: "busy" };
  if (lifecycle === "recovering") return { word: texts.connectingAgain, level: "warn" };
  if (lifecycle === "blocked") return { word: texts.blocked, level: "bad" };
  return { word: stoppedByHand ? texts.stoppedHand : texts.stopped, level: "info" };
}

/** Returns why it does not work, or what it lacks; nothing while it works. @param {Account} account */
export function reasonOf({ enabled, configured, missing = [], lifecycle, lastError }) {
  if (!enabled) return undefined;
  if (!configured) return texts.configLacks(list(missing) || texts.channelNeeds);
  return lifecycle === "ready" ? undefined : lastError;
}

/** Action that a person may take on an account. @param {Account} account @returns {"start" | "stop" | undefined} */
export function actOf({ enabled, configured, lifecycle }) {
  if (!enabled || !configured) return undefined;
  return lifecycle === "stopped" || lifecycle === "blocked" ? "start" : "stop";
}

/** Short facts of an account, in the order shown. @param {Account} account @param {number} now */
export function factsOf({ identity, lastInboundAt, lastOutboundAt, queueDepth, restarts, lifecycle, lastError }, now) {
  return [
    identity,
    lastInboundAt === undefined ? undefined : texts.lastIn(age(lastInboundAt, now)),
    lastOutboundAt === undefined ? undefined : texts.lastOut(age(lastOutboundAt, now)),
    queueDepth > 0 ? texts.waitingSent(count(queueDepth)) : undefined,
    restarts > 0 ? plural(restarts, texts.restarts) : undefined,
    lifecycle === "ready" && lastError !== undefined ? texts.lastError(lastError) : undefined,
  ].filter((fact) => fact !== undefined);
}

/** Sentence with the number of accounts and of those that need somebody. @param {Status} status */
export function sentenceOf({ channelAccounts, channels }) {
  const accounts = Object.values(channelAccounts).flat();
  const broken = Object.values(channels).filter(({ error }) => error !== undefined).length;
  if (accounts.length === 0 && broken === 0) return texts.noChannelSet;
  const ready = accounts.filter((one) => stateOf(one).level === "ok").length;
  const need = broken + accounts.filter((one) => ["bad", "warn"].includes(stateOf(one).level)).length;
  const needs = need === 0 ? "" : plural(need, texts.accountsNeedYou);
  return texts.readyOf({ ready: count(ready), accounts: plural(accounts.length, texts.accounts), needs });
}

/** Can its accounts be signed in here? @param {Status} status @param {string} channel */
export function canSignIn({ channelMeta = [] }, channel) {
  return channelMeta.some(({ id, canLogin }) => id === channel && canLogin === true);
}

/** Name of an account among others. @param {{ label: string, accountId: string, name?: string | undefined }} account */
export function titleOf({ label, accountId, name }) {
  return `${label} · ${name ?? accountId}`;
}

/** A sender with the id that nobody else can take on. @param {{ senderId: string, senderName?: string | undefined }} sender */
export function senderWords({ senderId, senderName }) {
  return senderName === undefined || senderName === senderId ? senderId : `${senderName} (${senderId})`;
}

/** Describes the outcome of a test message in a sentence. @param {{ status: string, to: string }} sent */
export function sentWords({ status, to }) {
  if (status === "sent") return texts.sentTo(to);
  if (status === "queued") return texts.messageWaitsQueue(to);
  return texts.notKnownWhether(to);
}
