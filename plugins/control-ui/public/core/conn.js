import { createBrowserDevice, createClient } from "svc/sdk/client";
import { base, buildId, kept, newId, ofTab, socketUrl, takeHanded } from "./env.js";
import { browserName } from "./format.js";
import { connection, greetedAt, hasNewBuild, health, hello, isRestarting, lastOnlineAt, now } from "./store.js";

/** @typedef {import("svc/sdk/client").ClientError} ClientError */

const scopes = ["operator.admin", "operator.read", "operator.write", "operator.approvals", "operator.pairing"];
// The page shows requests for approval and answers them: without `approvals` the gateway would find nobody to ask.
const caps = ["tool-events", "approvals", "session-scoped-events"];

const SLACK_MS = 5_000;

/** @type {string | undefined} */
let password;
/** From a scanned address; good once, so it is kept nowhere. @type {string | undefined} */
let invitation;

/** @type {Set<() => void>} */
const onlineListeners = new Set();

// Key and token of this browser for this gateway; without a secure context there are none, and the shared secret alone has to do.
const device = createBrowserDevice({ place: location.origin + base });

const client = createClient({
  url: socketUrl,
  auth: readAuth,
  device,
  client: {
    id: "svc-control-ui",
    displayName: browserName(navigator.userAgent),
    version: buildId || "unknown",
    platform: navigator.platform || "web",
    mode: "ui",
    buildId,
    instanceId: instanceId(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  },
  scopes,
  caps,
  locale: navigator.language,
  onState: stateChanged,
});

/** Starts connecting and keeps at it: also when the network or the tab comes back, and when an address hands over a token. */
export function startConnection() {
  adoptHanded();
  addEventListener("hashchange", () => adoptHanded() && tryNow());
  addEventListener("online", tryNow);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && tryNow());
  client.on("*", heard);
  now.subscribe(noticeSleep);
  client.on("health", (payload) => {
    health.value = payload;
  });
  client.on("shutdown", ({ restartExpectedMs }) => {
    isRestarting.value = restartExpectedMs !== undefined;
  });
  client.onGap(({ cause, health: fresh }) => {
    if (fresh) health.value = /** @type {import("./store.js").Health} */ (fresh);
    // After a reconnect the listeners have run already, see stateChanged.
    if (cause === "gap") tellOnline();
  });
  dial();
}

/** Tries at once instead of at the end of the wait. */
export function tryNow() {
  if (connection.value.state === "waiting" || connection.value.state === "closed") dial();
}

/** Epoch ms of the last sign of life. */
let heardAt = 0;

function heard() {
  heardAt = Date.now();
}

/** A machine that slept has a dead socket that looks alive, and the clock that the client measures silence by stood still. */
function noticeSleep(/** @type {number} */ at) {
  const current = connection.peek();
  if (current.state !== "connected" || at - heardAt <= 2 * current.hello.policy.tickIntervalMs + SLACK_MS) return;
  void client.close().finally(dial);
}

/** @param {{ token?: string, password?: string }} secret */
export function signIn(secret) {
  if (secret.token) ofTab.set("token", secret.token);
  password = secret.password;
  dial();
}

export function signOut() {
  ofTab.remove("token");
  password = undefined;
  void device.forgetToken().catch(() => undefined);
  void client.close();
}

/**
 * One request over the connection.
 * @param {string} method
 * @param {Record<string, unknown>} [params]
 * @param {import("svc/sdk/client").RequestOptions} [options]
 * @returns {Promise<any>}
 * @throws {ClientError}
 */
export function request(method, params = {}, options = {}) {
  const answer = client.request(/** @type {any} */ (method), /** @type {any} */ (params), options);
  answer.then(heard, () => undefined);
  return answer;
}

/**
 * Events of one name.
 * @param {string} event
 * @param {(payload: any) => void} listener
 */
export function onEvent(event, listener) {
  return client.on(event, listener);
}

/**
 * Called now if connected, on each new connection, and after lost events: read again what may have changed.
 * @param {() => void} listener
 */
export function onOnline(listener) {
  onlineListeners.add(listener);
  if (connection.value.state === "connected") listener();
  return () => onlineListeners.delete(listener);
}

function dial() {
  // How it ends arrives as a state.
  client.connect().catch(() => undefined);
}

/** @param {import("./store.js").ClientState} state */
function stateChanged(state) {
  if (connection.value.state === "connected") lastOnlineAt.value = heardAt;
  connection.value = state;
  if (state.state === "refused" && /^AUTH_(TOKEN|PASSWORD)_MISMATCH$/.test(String(state.error.details?.code))) {
    // A refused secret is not tried again by a reload: failures are counted by the gateway.
    ofTab.remove("token");
    password = undefined;
  }
  if (state.state === "connected" || state.state === "refused") invitation = undefined;
  if (state.state !== "connected") return;
  heard();
  const isReturn = hello.value !== undefined;
  hello.value = state.hello;
  greetedAt.value = Date.now();
  health.value = state.hello.snapshot.health;
  isRestarting.value = false;
  tellOnline();
  if (isReturn) void compareBuild();
}

function tellOnline() {
  for (const listener of [...onlineListeners]) listener();
}

function readAuth() {
  const token = ofTab.get("token");
  if (password) return { password };
  if (token) return { token };
  return invitation ? { bootstrapToken: invitation } : undefined;
}

function adoptHanded() {
  const { token, invitation: invited } = takeHanded();
  // A page that is signed in needs no invitation.
  if (!token && (!invited || connection.value.state === "connected")) return false;
  if (token) ofTab.set("token", token);
  else ofTab.remove("token");
  invitation = invited;
  password = undefined;
  if (connection.value.state === "refused") dial();
  return true;
}

/** After a restart the gateway may serve another page than this one. Failing to ask changes nothing. */
async function compareBuild() {
  const secret = password ?? ofTab.get("token");
  const headers = secret ? { Authorization: `Bearer ${secret}` } : undefined;
  const answer = await fetch(`${base}control-ui-config.json`, { ...(headers ? { headers } : {}), cache: "no-cache" }).catch(
    () => undefined,
  );
  if (!answer?.ok) return;
  const config = await answer.json().catch(() => undefined);
  const served = config?.serverBuildId;
  if (typeof served === "string" && buildId) hasNewBuild.value = served !== buildId;
}

function instanceId() {
  const known = kept.get("instance");
  if (known) return known;
  const made = newId();
  kept.set("instance", made);
  return made;
}
