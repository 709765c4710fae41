import { computed } from "@preact/signals";
import { onEvent, onOnline, request } from "./conn.js";
import { accountsNeeding, needingYou, nextTry, partsNeeding, partsOf, restartReasons } from "./parts.js";
import {
  approvals,
  defaultAgentId,
  defaultModel,
  health,
  isOnline,
  memory,
  modelStatus,
  models,
  now,
  plugins,
  waitingDevices,
  waitingPeople,
} from "./store.js";

/** Facts about the gateway for the header and the overview, kept fresh by events. */

export const parts = computed(() =>
  partsOf({
    health: health.value,
    plugins: plugins.value,
    models: models.value,
    defaultModel: defaultModel.value,
    modelStatus: modelStatus.value,
    memory: memory.value,
    agentId: defaultAgentId.value,
  }),
);

export const needs = computed(() => partsNeeding(needingYou(parts.value), health.value));
/** Accounts of channels that somebody has to mend. */
export const accountNeeds = computed(() => accountsNeeding(health.value));
/** Changes that a restart brings into force. */
export const restartNeeds = computed(() => restartReasons(health.value));

const approvalFamilies = ["exec", "plugin"];

/** Things that wait for a person, by kind. */
export const needCounts = computed(() => ({
  parts: needs.value.length,
  approvals: approvals.value.length,
  devices: waitingDevices.value.length,
  people: waitingPeople.value.length,
  accounts: accountNeeds.value.length,
  restarts: Math.min(1, restartNeeds.value.length),
}));

export const needsCount = computed(() => Object.values(needCounts.value).reduce((sum, count) => sum + count, 0));

export function startFacts() {
  onOnline(() => {
    void read("plugins.list", (answer) => (plugins.value = answer?.plugins));
    void readModels();
    void readModelStatus();
    void readMemory();
    void readDevices();
    void readPeople();
    readApprovals();
  });
  for (const event of ["device.pair.requested", "device.pair.resolved"]) onEvent(event, readDevices);
  for (const event of ["messaging.pairing.requested", "messaging.pairing.resolved"]) onEvent(event, readPeople);
  for (const family of approvalFamilies) {
    onEvent(`${family}.approval.requested`, addApproval);
    onEvent(`${family}.approval.resolved`, ({ id }) => {
      approvals.value = approvals.value.filter((approval) => approval.id !== id);
    });
  }
  for (const event of ["models.changed", "health"]) onEvent(event, readModelStatus);
  onEvent("models.changed", readModels);
  onEvent("plugins.changed", () => void read("plugins.list", (answer) => (plugins.value = answer?.plugins)));
  onEvent("memory.progress", (event) => (event.phase === "done" || event.phase === "error") && void readMemory());
  setInterval(() => {
    if (document.visibilityState === "visible") now.value = Date.now();
  }, 1_000);
}

function readModels() {
  return read("models.list", (answer) => (models.value = answer?.models));
}

function readDevices() {
  return read("device.pair.list", (answer) => (waitingDevices.value = answer?.pending ?? []));
}

function readPeople() {
  return read("messaging.pairing.list", (answer) => (waitingPeople.value = answer?.requests ?? []));
}

/** A gateway without the plugin, or a sign-in without the right, has no such requests to show. */
function readApprovals() {
  approvals.value = [];
  for (const family of approvalFamilies) {
    request(`${family}.approval.list`).then(
      (list) => list.forEach(addApproval),
      () => undefined,
    );
  }
}

/** @param {import("./approval-facts.js").Approval} approval */
function addApproval(approval) {
  if (approvals.value.some(({ id }) => id === approval.id)) return;
  approvals.value = [...approvals.value, approval].sort((a, b) => a.createdAtMs - b.createdAtMs);
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let restEnd;
/** A rest ends a moment before its end is read. */
const AFTER_REST_MS = 500;

/** No event tells that a rest is over, so it is looked for when its time has come. */
function readModelStatus() {
  return read("models.status", (answer) => {
    modelStatus.value = answer;
    clearTimeout(restEnd);
    const next = nextTry(answer, now.peek());
    if (next !== undefined) restEnd = setTimeout(readModelStatus, next - now.peek() + AFTER_REST_MS);
  });
}

function readMemory() {
  return read("memory.status", (answer) => (memory.value = answer));
}

/**
 * Reads one fact. A missing method or scope leaves no value; a lost connection keeps the old one, and the next one reads again.
 * @param {string} method
 * @param {(answer: any) => void} keep called with undefined where there is nothing to know
 */
async function read(method, keep) {
  try {
    keep(await request(method));
  } catch (error) {
    const isForGood = ["FORBIDDEN", "INVALID_REQUEST"].includes(/** @type {{ code?: string }} */ (error).code ?? "");
    if (isForGood && isOnline.peek()) keep(undefined);
  }
}
