import { formatRoute } from "./router.js";

/**
 * Addresses, forms and results of panels of plugins. Pure.
 *
 * @typedef {"tab" | "widget" | "settings" | "session" | "tool" | "run"} Surface
 * @typedef {{ id: string, pluginId: string, surface: Surface, label: string, kind: "data" | "frame", icon?: string, method?: string, src?: string,
 *   methods?: string[] }} Panel
 * @typedef {{ sessionKey?: string, runId?: string, tool?: string, toolCallId?: string }} Subject what a panel is about
 * @typedef {{ kind: "status", label: string, value: string, level?: "ok" | "warning" | "error" }} StatusBlock
 * @typedef {{ name: string, label: string, type: "text" | "number" | "boolean" | "select", options?: string[], value?: string | number | boolean }} Field
 * @typedef {{ kind: "form", method: string, fields: Field[], submit: string }} FormBlock
 * @typedef {{ kind: "command", label: string, method: string, params?: Record<string, unknown> }} CommandBlock
 * @typedef {StatusBlock | { kind: "keyValue", rows: Array<{ key: string, value: string }> } | { kind: "table", columns: string[], rows: string[][] }
 *   | { kind: "markdown", text: string } | FormBlock | CommandBlock} Block
 * @typedef {{ title: string, blocks: Block[] }} Content
 */

/** @param {Pick<Panel, "pluginId" | "id">} panel */
export function keyOf({ pluginId, id }) {
  return `${pluginId}/${id}`;
}

/** Address of a panel that has the view to itself. @param {Panel} panel @param {Subject} [subject] */
export function panelAddress(panel, { sessionKey, runId } = {}) {
  return formatRoute("panel", keyOf(panel), { s: sessionKey, r: runId });
}

/** Panels of a surface, by plugin and in the order in which each registered them. @param {readonly Panel[]} panels @param {Surface} surface @param {string} [pluginId] */
export function panelsAt(panels, surface, pluginId) {
  return panels.filter((panel) => panel.surface === surface && (pluginId === undefined || panel.pluginId === pluginId));
}

/** Address of a frame's page. @param {string} base with a slash at its end @param {Panel} panel */
export function frameAddress(base, { pluginId, src = "index.html" }) {
  return `${base}panel/${encodeURIComponent(pluginId)}/${src.split("/").map(encodeURIComponent).join("/")}`;
}

/** Values of a form before anybody typed. @param {readonly Field[]} fields @returns {Record<string, string | boolean>} */
export function firstValues(fields) {
  return Object.fromEntries(
    fields.map(({ name, type, value }) => [name, type === "boolean" ? value === true : value === undefined ? "" : String(value)]),
  );
}

/**
 * Parameters of a form's method. An empty number is left out, and so is a choice that was not made.
 * @param {readonly Field[]} fields @param {Record<string, string | boolean | undefined>} values
 * @returns {{ params: Record<string, unknown> } | { wrong: Field }}
 */
export function paramsOf(fields, values) {
  /** @type {Record<string, unknown>} */
  const params = {};
  for (const field of fields) {
    const value = values[field.name] ?? firstValues([field])[field.name];
    if (typeof value === "boolean" || field.type === "text") params[field.name] = value;
    else if (value?.trim() === "") continue;
    else if (field.type === "select") params[field.name] = value;
    else if (Number.isFinite(Number(value))) params[field.name] = Number(value);
    else return { wrong: field };
  }
  return { params };
}

/** Reads an answer of a plugin's method as a person would; empty when there is nothing to read. @param {unknown} result */
export function resultText(result) {
  if (result === undefined || result === null || result === true) return "";
  if (typeof result === "string") return result;
  if (typeof result !== "object" || Array.isArray(result)) return JSON.stringify(result, null, 2);
  const { ok: _, ...rest } = /** @type {Record<string, unknown>} */ (result);
  const said = Object.values(rest);
  if (said.length === 0) return "";
  return said.length === 1 && typeof said[0] === "string" ? said[0] : JSON.stringify(rest, null, 2);
}
