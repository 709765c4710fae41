import { sessionRow } from "./sessions.js";
import { defaultAgentId, defaultModel, modelStatus, models } from "./store.js";

/** Model that answers in a conversation, as `provider/id`; undefined where nobody has said. @param {string} sessionKey @param {string} agentId */
export function modelOf(sessionKey, agentId) {
  const [first] = modelStatus.value?.agents.find((one) => one.agentId === agentId)?.models ?? [];
  const standard = first ?? (agentId === defaultAgentId.value ? defaultModel.value : undefined);
  return sessionRow(sessionKey)?.model ?? (standard?.model ? `${standard.provider}/${standard.model}` : undefined);
}

/** True where that model is known to take recordings. @param {string} sessionKey */
export function takesAudio(sessionKey) {
  const name = modelOf(sessionKey, /^agent:([^:]+):/.exec(sessionKey)?.[1] ?? "main");
  return models.value?.some((one) => `${one.provider}/${one.id}` === name && one.input?.includes("audio")) ?? false;
}
