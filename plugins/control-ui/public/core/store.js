import { computed, signal } from "@preact/signals";
import { texts } from "../texts/frame.js";

/**
 * Facts that more than one view reads. Events and answers write here, components only read.
 *
 * @typedef {import("svc/sdk/client").ClientState} ClientState
 * @typedef {Extract<ClientState, {state: "connected"}>["hello"]} Hello
 * @typedef {{ id: string, name?: string, version?: string, state: string, enabled?: boolean, error?: string, origin?: string }} PluginInfo
 * @typedef {{ id: string, name?: string, provider: string, available?: boolean, unavailableReason?: string, input?: string[] }} ModelInfo
 * @typedef {{ files?: number, chunks?: number, dirty?: boolean, syncing?: boolean, workspace?: string, lastError?: string, provider?: string,
 *   custom?: { searchMode?: string }, fileList?: Array<{ path: string, source?: string, mtime: number }> }} MemoryStatus
 * @typedef {{ ok?: boolean, ts?: number, uptimeMs?: number, version?: string, defaultAgentId?: string, [part: string]: unknown }} Health
 */

export const connection = signal(/** @type {ClientState} */ ({ state: "closed" }));
export const isOnline = computed(() => connection.value.state === "connected");
/** Hello of the present or the last connection. */
export const hello = signal(/** @type {Hello | undefined} */ (undefined));
/** Epoch ms of the last moment with a connection; what is shown is as old as that. */
export const lastOnlineAt = signal(0);
/** Epoch ms of the last hello-ok. */
export const greetedAt = signal(0);
/** The gateway announced that it stops. */
export const isRestarting = signal(false);
/** The gateway serves another build than the one in this tab. */
export const hasNewBuild = signal(false);

export const health = signal(/** @type {Health | undefined} */ (undefined));
export const plugins = signal(/** @type {PluginInfo[] | undefined} */ (undefined));
export const models = signal(/** @type {ModelInfo[] | undefined} */ (undefined));
/** Model that answers when a session names none. */
export const defaultModel = signal(/** @type {{ provider: string, model: string } | undefined} */ (undefined));
/** Providers, and the models of agents, with their states. */
export const modelStatus = signal(/** @type {import("./model-facts.js").ModelStatus | undefined} */ (undefined));
export const memory = signal(/** @type {MemoryStatus | undefined} */ (undefined));

/** Requests that wait for a person's approval, oldest first. */
export const approvals = signal(/** @type {import("./approval-facts.js").Approval[]} */ ([]));

/** Devices that wait for somebody to approve them, by the name that each gives itself. */
export const waitingDevices = signal(/** @type {Array<{ requestId: string, displayName?: string, clientId: string }>} */ ([]));

/** People on channels who wait to be let in. */
export const waitingPeople = signal(/** @type {import("./channel-facts.js").Request[]} */ ([]));

/** Reason why writing is not possible now, as a sentence; undefined when it is. */
export const readOnlyReason = computed(() => {
  if (!isOnline.value) return texts.notConnectedGateway;
  const scopes = hello.value?.auth.scopes ?? [];
  return scopes.includes("operator.write") || scopes.includes("operator.admin") ? undefined : texts.signMayOnly;
});

/** Reason why resetting and deleting are not possible now; undefined when they are. */
export const noAdminReason = computed(() => {
  if (!isOnline.value) return texts.notConnectedGateway;
  return hello.value?.auth.scopes.includes("operator.admin") ? undefined : texts.signNotAdministrator;
});

/** Reason why answering requests for approval is not possible now; undefined when it is. */
export const noApprovalReason = computed(() => {
  if (!isOnline.value) return texts.notConnectedGateway;
  const scopes = hello.value?.auth.scopes ?? [];
  return scopes.includes("operator.approvals") || scopes.includes("operator.admin") ? undefined : texts.signMayNot;
});

/** Reason why letting people in is not possible now; undefined when it is. */
export const noPairingReason = computed(() => {
  if (!isOnline.value) return texts.notConnectedGateway;
  const scopes = hello.value?.auth.scopes ?? [];
  return scopes.includes("operator.pairing") || scopes.includes("operator.admin") ? undefined : texts.signMayNotLet;
});

export const mainSessionKey = computed(() => hello.value?.snapshot.sessionDefaults?.mainSessionKey ?? "agent:main:main");
export const defaultAgentId = computed(() => hello.value?.snapshot.sessionDefaults?.defaultAgentId ?? "main");

/** Name of the gateway's machine. */
export const gatewayName = computed(() => String(hello.value?.snapshot.presence[0]?.host ?? location.host));

/** Draws what plugins show at a place of the page; undefined until they show something. */
export const Panels = signal(/** @type {any} */ (undefined));

/** Now, moved on once a second while the page is visible; for ages and countdowns. */
export const now = signal(Date.now());

/** Uptime of the gateway, ms. */
export const uptimeMs = computed(() => {
  const seenAt = isOnline.value ? now.value : lastOnlineAt.value;
  return (hello.value?.snapshot.uptimeMs ?? 0) + Math.max(0, seenAt - greetedAt.value);
});
