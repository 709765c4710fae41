import { type Agents, cutEnd, neutralize, settledWithin, type ToolCall, type ToolResult } from "svc/sdk";
import { framed } from "./foreign.ts";

const MAX_ANSWER_CHARS = 20_000;

/** Outcome of a run in another session, as far as somebody waited for it. */
export type Answer =
  | { runId: string; state: "answered"; answer: string }
  | { runId: string; state: "failed"; error: string }
  | { runId: string; state: "at work" };

/** Answer of a run, or that it is still at work. @throws the signal's reason */
export async function answerOf(
  run: Awaited<ReturnType<Agents["run"]>>,
  waitMs: number,
  { signal }: Pick<ToolCall, "signal">,
): Promise<Answer> {
  const { runId } = run;
  const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await settledWithin(Promise.race([run.done, gone]), waitMs);
  signal.throwIfAborted();
  const ended = await Promise.race([run.done, Promise.resolve(undefined)]);
  if (!ended) return { runId, state: "at work" };
  return ended.status === "ok"
    ? { runId, state: "answered", answer: cutEnd(neutralize(ended.text), MAX_ANSWER_CHARS) }
    : { runId, state: "failed", error: ended.error ?? ended.code ?? "unknown reason" };
}

/** It as the agent reads it: facts as JSON, and behind them the answer in a frame. */
export function answerResult(answer: Answer, { key, source }: { key: string; source: string }): ToolResult {
  const { answer: text, ...facts } = { answer: undefined, ...answer };
  const shown = text === undefined ? "" : `\n\n${framed(text, { source, from: key })}`;
  return { content: [{ type: "text", text: `${JSON.stringify({ key, ...facts })}${shown}` }], details: { key, ...answer } };
}
