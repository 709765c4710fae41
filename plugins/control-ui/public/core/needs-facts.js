import { plural } from "./format.js";

/**
 * Parts of the health report that need a person. Pure.
 *
 * @typedef {import("./channel-facts.js").Account} Account
 * @typedef {{ channel: string, label: string, account: Account }} AccountNeed
 * @typedef {import("./store.js").Health} Health
 */

/** Accounts that do not work and do not come back by themselves. @param {Health | undefined} health @returns {AccountNeed[]} */
export function accountsNeeding(health) {
  const channels = /** @type {Record<string, { accounts?: Account[] }>} */ (health?.channels ?? {});
  const labels = /** @type {Record<string, string>} */ (health?.channelLabels ?? {});
  return Object.entries(channels).flatMap(([channel, { accounts = [] }]) =>
    accounts
      .filter(({ enabled, configured, lifecycle }) => enabled && (!configured || lifecycle === "blocked"))
      .map((account) => ({ channel, label: labels[channel] ?? channel, account })),
  );
}

/** Paths and reasons for which the gateway has to be restarted. @param {Health | undefined} health @returns {string[]} */
export function restartReasons(health) {
  const { pendingRestart = [], restart = [] } = /** @type {{ pendingRestart?: string[], restart?: string[] }} */ (
    health?.configReload ?? {}
  );
  return [...pendingRestart, ...restart];
}

/**
 * Parts that need a person, without a gateway whose only trouble is told account by account.
 * @template {{ id: string }} Part
 * @param {Part[]} parts @param {Health | undefined} health
 */
export function partsNeeding(parts, health) {
  const problems = Object.keys(health?.problems ?? {});
  const isTold = health?.ok !== false && problems.every((part) => part === "channels") && accountsNeeding(health).length > 0;
  return isTold ? parts.filter(({ id }) => id !== "gateway") : parts;
}

/**
 * "1 part needs you. 2 people wait to be let in."
 * @param {{ parts: number, approvals: number, devices: number, people: number, accounts: number, restarts: number }} counts
 */
export function needWords({ parts, approvals, devices, people, accounts, restarts }) {
  const sentences = [
    parts > 0 && `${plural(parts, "part")} ${parts === 1 ? "needs" : "need"} you.`,
    approvals > 0 && `${plural(approvals, "request")} ${approvals === 1 ? "waits" : "wait"} for your approval.`,
    devices > 0 && `${plural(devices, "device")} ${devices === 1 ? "asks" : "ask"} to be paired.`,
    people > 0 && (people === 1 ? "1 person waits to be let in." : `${people} people wait to be let in.`),
    accounts > 0 && `${plural(accounts, "channel account")} ${accounts === 1 ? "needs" : "need"} you.`,
    restarts > 0 && "A change waits for a restart.",
  ];
  return sentences.filter(Boolean).join(" ") || "Everything works.";
}
