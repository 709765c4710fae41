import { computed } from "@preact/signals";
import { approvals } from "./approvals.js";
import { onEvent, onOnline, request } from "./conn.js";
import { needingYou, partsOf } from "./parts.js";
import { defaultModel, health, memory, models, now, plugins, waitingDevices } from "./store.js";

/** Facts about the gateway for the header and the overview, kept fresh by events. */

export const parts = computed(() =>
  partsOf({
    health: health.value,
    plugins: plugins.value,
    models: models.value,
    defaultModel: defaultModel.value,
    memory: memory.value,
  }),
);

export const needs = computed(() => needingYou(parts.value));

/** Number of things that wait for a person: parts that do not work, requests for approval, devices. */
export const needsCount = computed(() => needs.value.length + approvals.value.length + waitingDevices.value.length);

export function startFacts() {
  onOnline(() => {
    void read("plugins.list", (answer) => (plugins.value = answer.plugins));
    void read("models.list", (answer) => (models.value = answer.models));
    void readMemory();
    void readDevices();
  });
  for (const event of ["device.pair.requested", "device.pair.resolved"]) onEvent(event, readDevices);
  onEvent("plugins.changed", () => void read("plugins.list", (answer) => (plugins.value = answer.plugins)));
  onEvent("memory.progress", (event) => (event.phase === "done" || event.phase === "error") && void readMemory());
  setInterval(() => {
    if (document.visibilityState === "visible") now.value = Date.now();
  }, 1_000);
}

function readDevices() {
  return read("device.pair.list", (answer) => (waitingDevices.value = answer.pending));
}

function readMemory() {
  return read("memory.status", (answer) => (memory.value = answer));
}

/**
 * Reads one fact. A missing method or scope leaves no value; a lost connection keeps the old one.
 * @param {string} method
 * @param {(answer: any) => void} keep
 */
async function read(method, keep) {
  try {
    keep(await request(method));
  } catch {
    return;
  }
}
