import { type LocalChatItem, type LocalModelPart, ModelError, type ModelMessage, type ModelRequest, type UserPart } from "svc/sdk";

type CallPart = Extract<LocalModelPart, { type: "call" }>;

const NO_RESULT = "Error: there is no result.";

/**
 * A conversation in the words of the runtime: an answer with its calls, their results and what came after them is one item. Reasoning goes back only to the
 * turn that it belongs to. Pure.
 * @throws {ModelError} `invalid_request` for what is no text
 */
export function toHistory({ system, messages }: Pick<ModelRequest, "system" | "messages">): LocalChatItem[] {
  const items: LocalChatItem[] = system === "" ? [] : [{ type: "system", text: system }];
  const calls = new Map<string, CallPart>();
  const turn = messages.findLastIndex(({ role }) => role === "user");
  for (const [i, message] of messages.entries()) {
    if (message.role === "tool") answerCall(calls.get(message.toolCallId), message);
    else if (message.role === "user") addUser(items, message.content);
    else addAnswer(items, message.content, { calls, withReasoning: i > turn });
  }
  return items;
}

function answerCall(call: CallPart | undefined, { text, isError }: Extract<ModelMessage, { role: "tool" }>): void {
  if (call) call.result = isError ? `Error: ${text}` : text;
}

/** Templates of models want a user and an answer in turn. */
function addUser(items: LocalChatItem[], content: readonly UserPart[]): void {
  const text = content.map(textOf).join("\n");
  const last = items.at(-1);
  if (last?.type === "user") last.text += `\n\n${text}`;
  else items.push({ type: "user", text });
}

function textOf(part: UserPart): string {
  if (part.type === "text") return part.text;
  throw new ModelError("invalid_request", `local: models on this machine read text only, got ${part.mimeType}; leave it out`);
}

function addAnswer(
  items: LocalChatItem[],
  content: Extract<ModelMessage, { role: "assistant" }>["content"],
  { calls, withReasoning }: { calls: Map<string, CallPart>; withReasoning: boolean },
): void {
  const last = items.at(-1);
  const parts = last?.type === "model" ? last.parts : [];
  if (last?.type !== "model") items.push({ type: "model", parts });
  let startsGroup = true;
  for (const part of content) {
    if (part.type === "text") {
      if (part.text !== "") parts.push({ type: "text", text: part.text });
    } else if (part.type === "reasoning") {
      if (withReasoning && !part.redacted && part.text !== "") parts.push({ type: "thought", text: part.text });
    } else {
      const raw = part.meta?.raw;
      const call: CallPart = {
        type: "call",
        name: part.name,
        params: part.args ?? {},
        result: NO_RESULT,
        startsGroup,
        ...(raw === undefined ? {} : { raw }),
      };
      startsGroup = false;
      calls.set(part.id, call);
      parts.push(call);
    }
  }
}
