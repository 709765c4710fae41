import type { LocalChatItem, LocalModelPart, LocalSampling } from "svc/sdk";
import type { ChatItem, ChatPart, ChatResponse, GenerateOptions } from "./llama-library.ts";

/** Translation of the contract into the words of the library. Pure, all of it. */

/** The history; it ends with the answer that is to be written. */
export function toChatItems(history: readonly LocalChatItem[]): ChatItem[] {
  const items = history.map((item): ChatItem => (item.type === "model" ? { type: "model", response: item.parts.map(toChatPart) } : item));
  return items.at(-1)?.type === "model" ? items : [...items, { type: "model", response: [] }];
}

function toChatPart(part: LocalModelPart): ChatPart {
  switch (part.type) {
    case "text":
      return part.text;
    case "thought":
      return { type: "segment", segmentType: "thought", text: part.text, ended: true };
    case "call": {
      const { name, params, result, raw, startsGroup = false } = part;
      return { type: "functionCall", name, params, result, startsNewChunk: startsGroup, ...(raw === undefined ? {} : { rawCall: raw }) };
    }
  }
}

export function toSamplingOptions(sampling: LocalSampling): Partial<GenerateOptions> {
  const { repeatPenalty: penalty, frequencyPenalty, presencePenalty, stop = [], thoughtTokens, maxTokens: _, ...rest } = sampling;
  const repeatPenalty = definedOnly({ penalty, frequencyPenalty, presencePenalty });
  return {
    ...definedOnly(rest),
    ...(Object.keys(repeatPenalty).length > 0 ? { repeatPenalty } : {}),
    ...(stop.length > 0 ? { customStopTriggers: stop } : {}),
    ...(thoughtTokens === undefined ? {} : { budgets: { thoughtTokens } }),
  };
}

export function toFinishReason(reason: ChatResponse["metadata"]["stopReason"]): "stop" | "length" | "calls" {
  if (reason === "functionCalls") return "calls";
  return reason === "maxTokens" ? "length" : "stop";
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function definedOnly<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
