import { texts } from "../texts/models.js";
import { changeConfig } from "./config-write.js";
import { request } from "./conn.js";
import { ofTab } from "./env.js";
import { modelToAsk } from "./model-facts.js";
import { catalog, known, makeDefault, testModel } from "./models.js";
import { additionOf, fileModel, isFile, keyChange, providerId, removalOf } from "./provider-draft.js";

/**
 * Every change of a provider, and the draft of its form.
 *
 * @typedef {import("./model-facts.js").ModelStatus} ModelStatus
 * @typedef {import("./model-facts.js").Model} Model
 * @typedef {import("./provider-draft.js").Draft} Draft
 */

const DRAFT = "provider-draft";

/**
 * Writes a provider, asks one of its models for a word, and makes that model the default once it has answered and the draft says so.
 * @param {Draft} draft
 * @param {string} key
 * @param {{ made: string | undefined, onSaved: (id: string) => void }} form `made`: the provider that this form made before
 */
export async function addAndTest(draft, key, { made, onSaved }) {
  const id = providerId(draft);
  if (made !== undefined && made !== id) await removeProvider(made);
  const needsRestart = await addProvider(draft, key);
  onSaved(id);
  if (needsRestart) throw new Error(texts.writtenDownForce);
  const ref = await refToAsk(draft);
  const result = await testModel(ref, { isFile: isFile(draft) });
  if (result.ok && draft.isDefault) await makeDefault(ref);
  return { ref, result };
}

/** Writes a provider into the config; its key goes there and nowhere else. @param {Draft} draft @param {string} key @returns {Promise<boolean>} true when it is in force after a restart only */
async function addProvider(draft, key) {
  const id = providerId(draft);
  return write(() => ({ patch: additionOf(draft, key) }), `models: add ${id}`);
}

/** @param {string} id @param {string} key */
export function replaceKey(id, key) {
  return write(() => ({ patch: keyChange(id, key) }), `models: another key of ${id}`);
}

/** @param {string} id */
export async function removeProvider(id) {
  const needsRestart = await write((written) => removalOf(written, id), `models: remove ${id}`);
  await Promise.all([known.read(), catalog.read()]);
  return needsRestart;
}

/**
 * The model of a provider that was just written: named in the form, or the first that its server lists.
 * @param {Draft} draft
 * @returns {Promise<string>} `provider/model`
 */
async function refToAsk(draft) {
  const id = providerId(draft);
  const { models } = await request("models.list", { provider: id, view: "all" });
  const status = /** @type {ModelStatus} */ (await request("models.status"));
  const provider = status.providers.find((one) => one.id === id);
  const why =
    status.skipped.find((one) => one.provider === id)?.reason ?? (provider?.state === "unavailable" ? provider.reason : undefined);
  if (!provider) throw new Error(texts.writtenDownBut({ id, why: why ?? texts.seePlugins }));
  const typed = isFile(draft) ? fileModel(draft) : draft.model;
  const model = modelToAsk(typed, { defaultModel: provider.defaultModel, ids: models.map((/** @type {Model} */ one) => one.id) });
  if (model === undefined) throw new Error(texts.offersNoModel({ id, what: await whyEmpty(id) }));
  return `${id}/${model}`;
}

/** Asks the server of a provider why it lists nothing. @param {string} id */
async function whyEmpty(id) {
  const { providers } = /** @type {ModelStatus} */ (await request("models.status", { probe: true }));
  return providers.find((one) => one.id === id)?.reason ?? texts.serverListsNone;
}

/**
 * @param {(written: any) => { patch: object, replacePaths?: string[] }} make from the config as it stands in the file
 * @param {string} note
 * @returns {Promise<boolean>} true when it is in force after a restart only
 */
async function write(make, note) {
  const { action } = await changeConfig((written) => ({ ...make(written), note }));
  return action === "restart";
}

/** Draft of the form, without its key. @param {Draft} fresh @returns {Draft | undefined} */
export function keptDraft(fresh) {
  try {
    const found = JSON.parse(ofTab.get(DRAFT) ?? "null");
    return found === null ? undefined : { ...fresh, ...found };
  } catch {
    return undefined;
  }
}

/** @param {Draft} draft */
export function keepDraft(draft) {
  ofTab.set(DRAFT, JSON.stringify(draft));
}

export function forgetDraft() {
  ofTab.remove(DRAFT);
}
