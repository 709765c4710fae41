import { signal } from "@preact/signals";
import { changeConfig } from "./config-write.js";
import { request } from "./conn.js";
import { isOnline } from "./store.js";
import { filters } from "./webhook-facts.js";

/**
 * State of the webhooks view: rules and deliveries.
 *
 * @typedef {import("./webhook-facts.js").Hooks} Hooks
 * @typedef {import("./webhook-facts.js").Delivery} Delivery
 * @typedef {keyof typeof filters} Filter
 */

/** Undefined until the first answer. */
export const hooks = signal(/** @type {Hooks | undefined} */ (undefined));
export const deliveries = signal(/** @type {{ filter: Filter, limit: number, rows: Delivery[] } | undefined} */ (undefined));
export const failure = signal(/** @type {unknown} */ (undefined));
/** Epoch ms of the last answer. */
export const readAt = signal(0);

export const PAGE = 50;
/** Most that the gateway tells at once. */
export const MOST = 200;

let asked = 0;

/** Reads rules and deliveries; an answer that was overtaken by a later question is dropped. @param {{ filter: Filter, limit: number }} options */
export async function readWebhooks({ filter, limit }) {
  if (!isOnline.value) return;
  const turn = ++asked;
  const states = filters[filter];
  try {
    const [list, recent] = await Promise.all([
      request("webhooks.list"),
      request("webhooks.recent", { limit, ...(states ? { states: [...states] } : {}) }),
    ]);
    if (turn !== asked) return;
    hooks.value = list;
    deliveries.value = { filter, limit, rows: recent.deliveries };
    failure.value = undefined;
    readAt.value = Date.now();
  } catch (error) {
    if (turn === asked && isOnline.value) failure.value = error;
  }
}

/** Is there a token for senders already? Its value is not told. */
export async function hasToken() {
  const { config, parsed } = await request("config.get");
  return (config ?? parsed)?.hooks?.token !== undefined;
}

/** A token that nobody guesses: 32 random bytes. */
export function randomToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/**
 * Switches webhooks on. The token is sent once and not kept here.
 * @param {string | undefined} token undefined: the one there is
 * @returns {Promise<string[]>} paths that wait for a restart
 */
export async function switchOn(token) {
  const hooks = { enabled: true, ...(token === undefined ? {} : { token }) };
  const { pendingRestart } = await changeConfig(() => ({ patch: { hooks } }));
  const { filter = "all", limit = PAGE } = deliveries.value ?? {};
  await readWebhooks({ filter, limit });
  return pendingRestart;
}

/** The text of one that is still kept. @param {string} uid @returns {Promise<string | undefined>} */
export async function readText(uid) {
  const { action } = await request("webhooks.show", { uid, payload: true });
  return typeof action?.message === "string" ? action.message : undefined;
}

/** @param {string} uid @param {"retry" | "drop"} word */
export async function changeDelivery(uid, word) {
  await request(`webhooks.${word}`, { uid });
  const { filter = "all", limit = PAGE } = deliveries.value ?? {};
  await readWebhooks({ filter, limit });
}
