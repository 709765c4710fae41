import type { ModelQuestion, ModelToolSpec } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { PromptMessage } from "../runs/replay-to-model.ts";
import type { Run } from "../runs/run.ts";
import { textsOf } from "../tools/tool-content.ts";
import { toolFailure } from "../tools/toolbox.ts";
import type { ToolCallMade } from "./turn.ts";

/** Calls of one answer that are carried out; the model reads that the others were not. */
const MAX_CALLS = 8;
/** Longest result of a call: nobody sums up what a question reads. */
const MAX_RESULT_CHARS = 16_000;

/** Parts of the kit that a question needs. */
export type AskParts = Pick<
  Kit,
  "ctx" | "config" | "directory" | "models" | "catalog" | "store" | "runs" | "cooldown" | "figures" | "tools"
>;

/** A question on its way. */
export interface Asking {
  question: ModelQuestion;
  /** Run that it is part of. */
  run: Run | undefined;
  signal: AbortSignal;
}

/** Tools that the question names, as far as the agent, and the run that it is part of, may use them. */
export async function offeredTools(kit: AskParts, { question, run }: Asking): Promise<ModelToolSpec[]> {
  const { tools = [], agentId } = question;
  if (tools.length === 0) return [];
  await Promise.all(tools.map((name) => kit.tools.ready(name)));
  const specs = kit.tools.specs(kit.directory.get(agentId), run).filter(({ name }) => tools.includes(name));
  // By name, as in the prompts of runs: a vendor's cache holds them.
  return specs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Carries out the calls of one answer, one after the other. @returns their results; a failure is one as well @throws the reason of the signal */
export async function callTools(kit: AskParts, asking: Asking, calls: readonly ToolCallMade[]): Promise<PromptMessage[]> {
  const results: PromptMessage[] = [];
  for (const [at, call] of calls.entries()) {
    const { text, isError } = at < MAX_CALLS ? await callOne(kit, asking, call) : { text: "too many calls at once", isError: true };
    asking.signal.throwIfAborted();
    results.push({ role: "tool", toolCallId: call.id, name: call.name, text, ...(isError ? { isError } : {}) });
  }
  return results;
}

async function callOne(kit: AskParts, { question, run, signal }: Asking, call: ToolCallMade): Promise<{ text: string; isError: boolean }> {
  const { agentId, sessionKey, runId = call.id, tools = [] } = question;
  try {
    if (!tools.includes(call.name)) throw new Error(`the tool ${call.name} is not offered here`);
    if (call.broken !== undefined) throw new Error(`its arguments are not valid JSON: ${call.broken}`);
    const { isOwner, place, tools: narrowed } = run?.request ?? {};
    const target = { agentId, sessionKey, runId, toolCallId: call.id, signal, maxChars: MAX_RESULT_CHARS };
    const rights = run ? { origin: run.origin, isOwner, tools: narrowed, ...(place ? { place } : {}) } : {};
    const { content, isError = false } = await kit.tools.invoke(kit.directory.get(agentId), call, { ...target, ...rights });
    return { text: textsOf(content).join("\n"), isError };
  } catch (error) {
    signal.throwIfAborted();
    return { text: textsOf(toolFailure(error).content).join("\n"), isError: true };
  }
}
