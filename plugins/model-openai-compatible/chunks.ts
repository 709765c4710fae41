import { convertOpenAICompatibleChatUsage, mapOpenAICompatibleFinishReason } from "@ai-sdk/openai-compatible/internal";
import { isRecord, ModelError } from "svc/sdk";
import type { StreamPart } from "svc/sdk/internal";
import { createCalls } from "./calls.ts";
import { type ContentPart, callDeltasOf, contentOf, recordOf, StrangeChunk, textOf } from "./chunk-fields.ts";

/** Reads the chunks of one answer. */
export interface ChunkReader {
  /** @throws {ModelError} for a chunk that is none; the vendor's own error, as it came */
  take(chunk: unknown): void;
  /** Nothing more comes. @throws {ModelError} when the answer has no end of its own */
  end(): void;
}

type Counts = Parameters<typeof convertOpenAICompatibleChatUsage>[0];

/**
 * Reads chunks of the chat completions protocol in place of the vendor package's stream, which puts each of them through a schema and a chain of
 * promises. It takes and refuses the same, and leaves calls of tools, counts and reasons to the package.
 *
 * @param provider id of the provider: name of the vendor's own data in it, and of the provider in errors
 * @param put gets the parts of the answer in order
 */
export function createChunkReader(provider: string, put: (part: StreamPart) => void): ChunkReader {
  const fault = (what: string) => new ModelError("network", `provider "${provider}": ${what}`);
  const calls = createCalls(provider, put, fault);
  let usage: Counts;
  let finish: string | undefined;
  let hasRefusal = false;

  const tell = ({ type, text }: ContentPart) => {
    if (text === "") return;
    if (type === "text") put({ type: "text-delta", id: "txt-0", delta: text });
    else put({ type: "reasoning-delta", id: "reasoning-0", delta: text });
  };
  const takeDelta = ({ reasoning_content, reasoning, content, refusal, tool_calls }: ReturnType<typeof recordOf>) => {
    const thought = textOf(reasoning_content) ?? textOf(reasoning);
    if (thought) tell({ type: "reasoning", text: thought });
    if (typeof content === "string") tell({ type: "text", text: content });
    else for (const part of contentOf(content)) tell(part);
    if (typeof refusal === "string" && refusal !== "") {
      hasRefusal = true;
      tell({ type: "text", text: refusal });
    }
    for (const call of callDeltasOf(tool_calls)) calls.take(call);
  };
  const takeChunk = ({ error, choices, usage: counts }: ReturnType<typeof recordOf>) => {
    // Some servers name an error that there is not.
    if (error !== undefined && error !== null) throw vendorsError(error);
    if (!Array.isArray(choices)) throw new StrangeChunk();
    if (isRecord(counts)) usage = counts as Counts;
    if (choices.length === 0) return;
    const choice = recordOf(choices[0]);
    finish = textOf(choice.finish_reason) ?? finish;
    if (choice.delta !== undefined && choice.delta !== null) takeDelta(recordOf(choice.delta));
  };

  return {
    take(chunk) {
      try {
        takeChunk(recordOf(chunk));
      } catch (error) {
        throw error instanceof StrangeChunk ? fault("the answer could not be understood") : error;
      }
    },
    end() {
      calls.end();
      if (finish === undefined) throw fault("the answer broke off before its end");
      const unified = mapOpenAICompatibleFinishReason(finish, { hasRefusal });
      put({ type: "finish", finishReason: { unified, raw: finish }, usage: convertOpenAICompatibleChatUsage(usage) });
    },
  };
}

/** An error that a vendor reports inside its answer, with its own words. */
function vendorsError(error: unknown): { message: string } {
  if (typeof error === "string") return { message: error };
  const { message } = recordOf(error);
  if (typeof message !== "string") throw new StrangeChunk();
  return error as { message: string };
}
