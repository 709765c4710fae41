import { signal } from "@preact/signals";
import { texts } from "../texts/plugins.js";
import { changeConfig } from "./config-write.js";
import { onEvent, request } from "./conn.js";
import { newId } from "./env.js";
import { inspect, pluginList } from "./plugins.js";

/**
 * Installing and removing plugins. One that was installed is switched off until somebody has looked at what it asks for.
 *
 * @typedef {{ id: string, name: string, version: string, asked: string[], granted: string[] }} Arrived
 */

/** Fetching packages from npm may take as long as the gateway lets it. */
const INSTALL_MS = 660_000;

/** Text that was typed; it outlives a visit of another view. */
export const typedSource = signal("");
/** Doing of the gateway during an installation. */
export const installing = signal(/** @type {string | undefined} */ (undefined));
export const arrived = signal(/** @type {Arrived | undefined} */ (undefined));

/** Key of the attempt, so that asking again after a lost connection joins it. */
let attempt = { of: "", key: "" };

/** @param {string} source @param {boolean} replaceBundled */
export async function installPlugin(source, replaceBundled) {
  const wish = JSON.stringify([source, replaceBundled]);
  if (attempt.of !== wish) attempt = { of: wish, key: newId() };
  installing.value = texts.askingGateway;
  const end = onEvent("plugins.progress", ({ source: of, text }) => {
    if (of === source) installing.value = text;
  });
  try {
    const params = { source, ...(replaceBundled ? { replaceBundled } : {}), idempotencyKey: attempt.key };
    const { plugin, permissions } = await request("plugins.install", params, { timeoutMs: INSTALL_MS });
    attempt = { of: "", key: "" };
    const granted = permissions.filter((/** @type {{ granted: boolean }} */ one) => one.granted);
    const names = (/** @type {Array<{ permission: string }>} */ list) => list.map(({ permission }) => permission);
    arrived.value = { ...plugin, asked: names(permissions), granted: names(granted) };
    typedSource.value = "";
    await pluginList.read();
  } finally {
    end();
    installing.value = undefined;
  }
}

/** Looks at a plugin that is installed as it was when it arrived. @param {import("./plugin-facts.js").Plugin} plugin @returns {Promise<Arrived>} */
export async function lookAt({ id, name, version }) {
  const [{ permissions }, { parsed }] = await Promise.all([inspect(id), request("config.get")]);
  const grants = parsed?.plugins?.entries?.[id]?.grants ?? [];
  return { id, name, version, asked: permissions, granted: permissions.filter((one) => grants.includes(one)) };
}

/** Switches an installed plugin on with these permissions and no others. @param {string} id @param {string[]} grants */
export async function confirmPlugin(id, grants) {
  await changeConfig((written) => {
    const had = written?.plugins?.entries?.[id]?.grants;
    const entry = { enabled: true, ...(grants.length > 0 || had?.length ? { grants } : {}) };
    return {
      patch: { plugins: { entries: { [id]: entry } } },
      replacePaths: [`plugins.entries.${id}.grants`],
      note: texts.installCommandFor(id),
    };
  });
  // Takes it out of quarantine too, and says what became of it.
  const { warnings } = await request("plugins.setEnabled", { pluginId: id, enabled: true, idempotencyKey: newId() });
  await pluginList.read();
  return /** @type {string[]} */ (warnings);
}

/** @param {string} pluginId */
export async function removePlugin(pluginId) {
  await request("plugins.uninstall", { pluginId, idempotencyKey: newId() });
  if (arrived.peek()?.id === pluginId) arrived.value = undefined;
  await pluginList.read();
}
