import { computed, signal } from "@preact/signals";
import { request } from "./conn.js";
import { panelsAt } from "./panel-facts.js";
import { createReading } from "./reading.js";

/** State of the panels that plugins show. */

/** @typedef {import("./panel-facts.js").Panel} Panel */

export const panelList = createReading(async () => {
  const { descriptors } = /** @type {{ descriptors: Panel[] }} */ (await request("plugins.uiDescriptors"));
  return descriptors;
});

/** Panels as last listed; none while nothing is known. */
export const panels = computed(() => panelList.answer.value ?? []);

/** Panels with a place among the views. */
export const tabs = computed(() => panelsAt(panels.value, "tab"));

/** Tools of plugins that show panels about their calls. */
export const toolsOf = signal(/** @type {Readonly<Record<string, readonly string[]>>} */ ({}));

/** Reads once which tools are a plugin's own. @param {string} pluginId */
export async function readTools(pluginId) {
  if (Object.hasOwn(toolsOf.peek(), pluginId)) return;
  toolsOf.value = { ...toolsOf.peek(), [pluginId]: [] };
  const found = await request("plugins.inspect", { pluginId }).catch(() => undefined);
  toolsOf.value = { ...toolsOf.peek(), [pluginId]: found?.declared.tools ?? [] };
}
