import type { ModelSampling, ModelToolSpec } from "svc/sdk";
import type { StoredAttempt, StoredBlock, StoredPrompt } from "./stored-trace.ts";
import type { TraceLog } from "./trace-log.ts";

/** The unchanging part of a prompt, secrets masked. */
export interface PromptBlocks {
  system: string;
  tools: ModelToolSpec[];
  sampling: ModelSampling | undefined;
  /** Differences from what was sent, in words. */
  notes: string[];
}

/** System prompt, tools and sampling of one request, as they were sent. */
export async function readBlocks(
  traces: Pick<TraceLog, "block">,
  prompt: StoredPrompt | undefined,
  { isWithoutTools }: Pick<StoredAttempt, "isWithoutTools"> = {},
): Promise<PromptBlocks> {
  const notes: string[] = [];
  const read = async (name: string | undefined, what: string): Promise<StoredBlock | undefined> => {
    const block = name === undefined ? undefined : await traces.block(name);
    if (name !== undefined && !block) notes.push(`${what} is no longer stored`);
    if (block?.cutFrom !== undefined) notes.push(`${what} was cut from ${block.cutFrom} characters`);
    return block;
  };
  const system: string[] = [];
  const parts = (isWithoutTools && prompt?.systemWithoutTools) || prompt?.system || [];
  for (const [i, name] of parts.entries()) {
    const block = await read(name, `part ${i + 1} of the system prompt`);
    if (block) system.push(block.text);
  }
  const parsed = async <T>(name: string | undefined, what: string, none: T): Promise<T> => {
    const block = await read(name, what);
    if (!block) return none;
    try {
      return JSON.parse(block.text) as T;
    } catch {
      notes.push(`${what} cannot be read any more`);
      return none;
    }
  };
  const own = isWithoutTools ? [] : await parsed<ModelToolSpec[]>(prompt?.tools, "the list of tools", []);
  const theirs = await parsed<ModelToolSpec[]>(prompt?.clientTools, "the list of the caller's tools", []);
  const sampling = await parsed<ModelSampling | undefined>(prompt?.sampling, "the sampling", undefined);
  return { system: system.join("\n\n"), tools: [...own, ...theirs], sampling, notes };
}
