import { signal } from "@preact/signals";
import { changeConfig, readConfig } from "./config-write.js";
import { request } from "./conn.js";
import { CALLBACK_PORT, freshDraft } from "./mcp-facts.js";
import { createReading } from "./reading.js";

/**
 * State of the view of MCP servers.
 *
 * @typedef {import("./mcp-facts.js").Server} Server
 * @typedef {import("./mcp-facts.js").Settings} Settings
 * @typedef {{ path: string, problem?: string, tools: Array<{ name: string, title: string, description: string, isReadOnly: boolean }> }} Served
 */

const LOGIN_MS = 60_000;

export const servers = createReading(async () => /** @type {Server[]} */ ((await request("mcp.status")).servers));
/** Their entries in the config, by name. */
export const settings = createReading(
  async () => /** @type {Record<string, Settings>} */ ((await readConfig()).parsed?.mcp?.servers ?? {}),
);
export const served = createReading(() => /** @type {Promise<Served>} */ (request("mcp.served")));

/** A new server as far as it was typed; it outlives the form and a lost connection. */
export const draft = signal(freshDraft());

/** @param {Record<string, unknown>} patch @param {string[]} [gone] paths that go @returns {Promise<import("./config-write.js").Written>} */
export async function writeServers(patch, gone) {
  const written = await changeConfig(() => ({ patch, replacePaths: gone }));
  await Promise.all([servers.read(), settings.read()]);
  return written;
}

/** @param {string} name */
export function removeServer(name) {
  return writeServers({ mcp: { servers: { [name]: null } } }, [`mcp.servers.${name}`]);
}

/** @param {string} server */
export async function reconnect(server) {
  await request("mcp.reconnect", { server });
  await servers.read();
}

/** Address that a person opens to log in; undefined: the server asks for no login. @param {string} server @param {number} [port] @returns {Promise<string | undefined>} */
export async function beginLogin(server, port = CALLBACK_PORT) {
  const redirectUrl = `http://127.0.0.1:${port}/callback`;
  return (await request("mcp.login.start", { server, redirectUrl }, { timeoutMs: LOGIN_MS })).authorizationUrl;
}

/** @param {string} server @param {string} query */
export async function finishLogin(server, query) {
  await request("mcp.login.finish", { server, query }, { timeoutMs: LOGIN_MS });
  await servers.read();
}

/** @param {string} server @returns {Promise<boolean>} false: there was no login */
export async function logOut(server) {
  const { removed } = await request("mcp.logout", { server });
  await servers.read();
  return removed;
}

/** Takes back approvals that were given for always. @param {string} server @returns {Promise<number>} */
export async function revoke(server) {
  return (await request("mcp.revoke", { server })).removed;
}
