import { type Agents, isSvcError, type Messaging } from "svc/sdk";
import { invalid } from "./refusal.ts";

/** Levels that a model knows. */
const thinkingLevels = ["off", "minimal", "low", "medium", "high"];
/** Maximum length of a caller's value that is repeated to it. */
const MAX_ECHO_CHARS = 128;

/** `last`, or a channel that there is now. @throws {SvcError} `hook-invalid` */
export function checkChannel(channel: string, messaging: Pick<Messaging, "channels" | "channelOf"> | undefined): string {
  const known = ["last", ...(messaging?.channels() ?? ["webchat"])];
  const id = known.includes(channel) ? channel : messaging?.channelOf(channel);
  if (id === undefined) throw invalid(`channel must be ${known.join("|")}`);
  return id;
}

/** The full reference of a model that the agent may use. @throws {SvcError} `hook-invalid` */
export async function checkModel(model: string, agentId: string, agents: Pick<Agents, "checkModel">): Promise<string> {
  try {
    return await agents.checkModel({ agentId, model });
  } catch (error) {
    if (!isSvcError(error) || error.spec.http !== 400) throw error;
    throw invalid(`model not allowed: ${oneLine(model)}`);
  }
}

/** A level nobody knows is left out: a sender's slip is no reason to lose its event. */
export function checkThinking(thinking: string | undefined, warnings: string[]): { thinking?: string } {
  if (thinking === undefined || thinking === "") return {};
  if (thinkingLevels.includes(thinking)) return { thinking };
  warnings.push(`thinking level "${oneLine(thinking)}" is unknown and left out; expected ${thinkingLevels.join("|")}`);
  return {};
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").slice(0, MAX_ECHO_CHARS);
}
