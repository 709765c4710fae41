import { age, count, plural } from "./format.js";

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
  if (!enabled) return { word: "disabled", level: "" };
  if (!configured) return { word: "incomplete", level: "warn" };
  if (lifecycle === "ready") return { word: "ready", level: "ok" };
  if (lifecycle === "starting") return { word: "starting", level: "busy" };
  if (lifecycle === "recovering") return { word: "connecting again", level: "warn" };
  if (lifecycle === "blocked") return { word: "blocked", level: "bad" };
  return { word: stoppedByHand ? "stopped by hand" : "stopped", level: "info" };
}

/** Returns why it does not work, or what it lacks; nothing while it works. @param {Account} account */
export function reasonOf({ enabled, configured, missing = [], lifecycle, lastError }) {
  if (!enabled) return undefined;
  if (!configured) return `The config lacks ${missing.join(", ") || "what the channel needs"}.`;
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
    lastInboundAt === undefined ? undefined : `last in ${age(lastInboundAt, now)}`,
    lastOutboundAt === undefined ? undefined : `last out ${age(lastOutboundAt, now)}`,
    queueDepth > 0 ? `${count(queueDepth)} waiting to be sent` : undefined,
    restarts > 0 ? plural(restarts, "restart") : undefined,
    lifecycle === "ready" && lastError !== undefined ? `last error: ${lastError}` : undefined,
  ].filter((fact) => fact !== undefined);
}

/** Sentence with the number of accounts and of those that need somebody. @param {Status} status */
export function sentenceOf({ channelAccounts, channels }) {
  const accounts = Object.values(channelAccounts).flat();
  const broken = Object.values(channels).filter(({ error }) => error !== undefined).length;
  if (accounts.length === 0 && broken === 0) return "No channel is set up: people reach the agent on this page only.";
  const ready = accounts.filter((one) => stateOf(one).level === "ok").length;
  const need = broken + accounts.filter((one) => ["bad", "warn"].includes(stateOf(one).level)).length;
  const needs = need === 0 ? "" : `, ${need === 1 ? "1 needs" : `${count(need)} need`} you`;
  return `${count(ready)} of ${plural(accounts.length, "account")} ready${needs}.`;
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
  if (status === "sent") return `Sent to ${to}.`;
  if (status === "queued") return `The message to ${to} waits in the queue.`;
  return `It is not known whether the message to ${to} has arrived.`;
}
