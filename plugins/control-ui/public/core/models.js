import { request } from "./conn.js";
import { createReading } from "./reading.js";

/**
 * State of the models view: providers, what they offer, and what was used.
 *
 * @typedef {import("./model-facts.js").ModelStatus} ModelStatus
 * @typedef {import("./model-facts.js").Model} Model
 * @typedef {import("./model-facts.js").TestResult} TestResult
 * @typedef {{ status: ModelStatus, usage: import("./usage-facts.js").UsageRow[] | undefined, pictures: string | undefined }} Known
 *   `pictures`: the model that the tool for pictures asks when the session's own sees none
 */

export const USAGE_DAYS = 30;
const TEST_MS = 60_000;
/** A model file may have to be downloaded and loaded first. */
const FILE_TEST_MS = 600_000;
/** Beyond the model's own limit, so that the gateway is the one that says it. */
const GRACE_MS = 5_000;

export const known = createReading(readKnown);
/** Servers are asked for their lists, which may take some seconds. */
export const catalog = createReading(readCatalog);

/** @returns {Promise<Known>} */
async function readKnown() {
  const [status, usage, config] = await Promise.all([
    request("models.status"),
    // Neither has to be there.
    request("usage.summary", { by: "model", days: USAGE_DAYS }).catch(() => undefined),
    request("config.get").catch(() => undefined),
  ]);
  return { status, usage: usage?.rows, pictures: config?.config?.plugins?.entries?.["tools-web"]?.config?.image?.model };
}

/** @returns {Promise<Model[]>} */
async function readCatalog() {
  return (await request("models.list", { view: "all" })).models;
}

/** Asks the servers whether they are there, and reads again. */
export async function probe() {
  await request("models.status", { probe: true });
  await Promise.all([known.read(), catalog.read()]);
}

/** One small request to a model. @param {string} ref `provider/model` @param {{ isFile?: boolean }} [options] @returns {Promise<TestResult>} */
export async function testModel(ref, { isFile = false } = {}) {
  const timeoutMs = isFile ? FILE_TEST_MS : TEST_MS;
  const result = await request("models.test", { model: ref, timeoutMs }, { timeoutMs: timeoutMs + GRACE_MS });
  // An answer ends a rest; a fault begins none, so the server is asked how it is: everybody sees then what is wrong.
  if (result.ok) void known.read();
  else void probe().catch(() => undefined);
  return result;
}

/** @param {string} ref @returns {Promise<{ ownModels: string[], restartRequired?: true }>} */
export async function makeDefault(ref) {
  const answer = await request("models.set", { model: ref });
  await known.read();
  return answer;
}
