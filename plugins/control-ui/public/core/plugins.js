import { texts } from "../texts/parts.js";
import { request } from "./conn.js";
import { newId } from "./env.js";
import { createReading } from "./reading.js";

/** State of the plugins view. */

export const pluginList = createReading(() => /** @type {Promise<import("./plugin-facts.js").Plugins>} */ (request("plugins.list")));

/** @param {string} pluginId @returns {Promise<import("./plugin-facts.js").Inspected>} */
export function inspect(pluginId) {
  return request("plugins.inspect", { pluginId });
}

/**
 * Switches a plugin, which also takes it out of quarantine.
 * @param {string} pluginId @param {boolean} enabled
 * @returns {Promise<string[]>} what is to be known beyond the new state
 */
export async function setEnabled(pluginId, enabled) {
  const { warnings, restartRequired } = await request("plugins.setEnabled", { pluginId, enabled, idempotencyKey: newId() });
  await pluginList.read();
  return restartRequired ? [...warnings, texts.takesEffectNext] : warnings;
}

/** Loads the code on disk in place of the running instance. @param {string} pluginId @returns {Promise<void>} */
export async function reloadPlugin(pluginId) {
  const { results } = await request("plugins.reload", { plugins: [{ pluginId }] });
  await pluginList.read();
  const failed = results.find((/** @type {{ error?: string }} */ { error }) => error !== undefined);
  if (failed) throw new Error(failed.error);
}
