import { texts } from "../texts/models.js";

/**
 * A provider of models in its form, and what of it goes into the config. The key is no part of the draft: it is typed, sent and forgotten. Pure.
 *
 * @typedef {"key" | "address" | "local"} Kind `key`: a vendor in the cloud; `address`: a server of one's own; `local`: on the gateway's machine
 * @typedef {{ kind: Kind, vendor: string, id: string, address: string, server: string, file: string, model: string, isDefault: boolean }} Draft
 * @typedef {Partial<Record<keyof Draft | "key", string>>} Problems
 * @typedef {string | { primary?: string, fallbacks?: string[] }} ModelSetting
 * @typedef {{ agents?: { defaults?: { model?: ModelSetting }, list?: Array<{ id: string, model?: ModelSetting }> } }} WrittenConfig
 */

/** Vendors that a key is enough for, by the ids that the plugins of models know them by. @type {ReadonlyArray<readonly [id: string, name: string]>} */
export const vendors = [
  ["anthropic", "Anthropic"],
  ["openai", "OpenAI"],
  ["google", "Google"],
  ["mistral", "Mistral"],
  ["openrouter", "OpenRouter"],
  ["groq", "Groq"],
  ["deepseek", "DeepSeek"],
  ["xai", "xAI"],
  ["together", "Together"],
  ["fireworks", "Fireworks"],
];

/** Id of the provider whose models are files. */
const FILES = "local";

/** Servers on the gateway's machine, with the ports that they listen on if nobody says otherwise; the last one is no server. @type {ReadonlyArray<readonly [id: string, name: string, port?: number]>} */
export const servers = [
  ["ollama", "Ollama", 11434],
  ["lmstudio", "LM Studio", 1234],
  ["llamacpp", texts.llamaServer, 8080],
  ["vllm", "vLLM", 8000],
  [FILES, texts.modelFile],
];

/** @param {boolean} isDefault @returns {Draft} */
export function freshDraft(isDefault) {
  return { kind: "key", vendor: "anthropic", id: "", address: "", server: "ollama", file: "", model: "", isDefault };
}

/** Draft of a model file. @param {Draft} draft */
export function isFile({ kind, server }) {
  return kind === "local" && server === FILES;
}

/** Id that the provider has in the config. @param {Draft} draft */
export function providerId({ kind, vendor, id, server }) {
  return kind === "key" ? vendor : kind === "local" ? server : id.trim();
}

/**
 * Problems of a draft, by field.
 * @param {Draft} draft
 * @param {{ key: string, taken: readonly string[], written?: string | undefined }} known `taken`: ids of the config; `written`: the one that this form has written
 * @returns {Problems}
 */
export function problemsOf(draft, { key, taken, written }) {
  const { kind } = draft;
  const id = providerId(draft);
  const isTaken = taken.includes(id) && id !== written && !isFile(draft);
  /** @type {Problems} */
  const problems = {};
  if (isTaken) {
    const place = kind === "key" ? "vendor" : kind === "local" ? "server" : "id";
    problems[place] = texts.setUpAlready(id);
  }
  if (kind === "key" && key === "" && written !== id) problems.key = texts.keyMissing;
  if (/\s/.test(key)) problems.key = texts.keyNoSpaces;
  if (kind === "address" && !/^[a-z0-9][a-z0-9._-]{0,63}$/.test(id)) problems.id ??= texts.smallLettersDigits;
  const address = draft.address.trim();
  if ((kind === "address" || (kind === "local" && !isFile(draft) && address !== "")) && !isAddress(address))
    problems.address = texts.addressHttpHost;
  if (isFile(draft) && draft.file.trim() === "") problems.file = texts.pathGatewayS;
  return problems;
}

/** @param {string} text */
function isAddress(text) {
  try {
    const url = new URL(text);
    return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  } catch {
    return false;
  }
}

/** Merge patch that adds the provider. An empty key leaves the one that is there. @param {Draft} draft @param {string} key */
export function additionOf(draft, key) {
  return { models: { providers: { [providerId(draft)]: entryOf(draft, key) } } };
}

/** @param {Draft} draft @param {string} key */
function entryOf(draft, key) {
  const { kind } = draft;
  const [address, model] = [draft.address.trim(), draft.model.trim()];
  const apiKey = key === "" ? {} : { apiKey: key };
  if (kind === "key") return apiKey;
  if (isFile(draft)) return { models: [{ id: fileModel(draft), modelPath: draft.file.trim() }] };
  if (kind === "local") return address === "" ? {} : { baseUrl: address };
  // A server may have no list of its own models: the one that is named must then stand here.
  return { baseUrl: address, ...apiKey, ...(model === "" ? {} : { models: [{ id: model }] }) };
}

/** Name of a model file here: the one that was typed, else that of the file. @param {Draft} draft */
export function fileModel({ file, model }) {
  if (model.trim() !== "") return model.trim();
  const name = file.trim().split(/[/\\]/).at(-1) ?? "";
  return (
    name
      .toLowerCase()
      .replace(/\.gguf$/, "")
      .replace(/[^a-z0-9._-]/g, "-") || "model"
  );
}

/** Merge patch with another key. @param {string} id @param {string} key */
export function keyChange(id, key) {
  return { models: { providers: { [id]: { apiKey: key } } } };
}

/**
 * Merge patch that removes a provider, and takes its models out of the lists that agents are answered by: a model that is named and gone would be a dead end.
 * @param {WrittenConfig | undefined} written the config as it stands in the file
 * @param {string} id
 * @returns {{ patch: object, replacePaths: string[] }}
 */
export function removalOf(written, id) {
  const { defaults, list = [] } = written?.agents ?? {};
  const ofAll = settingWithout(defaults?.model, id);
  const own = list.flatMap((agent, i) => {
    const model = settingWithout(agent.model, id);
    return model === undefined ? [] : [{ i, entry: { id: agent.id, model } }];
  });
  const agents = {
    ...(ofAll === undefined ? {} : { defaults: { model: ofAll } }),
    ...(own.length === 0 ? {} : { list: own.map(({ entry }) => entry) }),
  };
  return {
    patch: { models: { providers: { [id]: null } }, ...(Object.keys(agents).length === 0 ? {} : { agents }) },
    // Lists that may get shorter; naming one also says that the file may.
    replacePaths: ["agents.defaults.model.fallbacks", ...own.map(({ i }) => `agents.list[${i}].model.fallbacks`)],
  };
}

/**
 * The rest of a setting without the models of a provider; null when nothing is left, undefined when none of them is in it.
 * @param {ModelSetting | undefined} setting @param {string} id
 */
function settingWithout(setting, id) {
  const refs =
    typeof setting === "string" ? [setting] : [setting?.primary ?? "", ...(setting?.fallbacks ?? [])].filter((ref) => ref !== "");
  const [primary, ...fallbacks] = refs.filter((ref) => !ref.startsWith(`${id}/`));
  if (fallbacks.length + (primary === undefined ? 0 : 1) === refs.length) return undefined;
  if (primary === undefined) return null;
  return fallbacks.length === 0 ? primary : { primary, fallbacks };
}
