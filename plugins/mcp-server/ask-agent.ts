import { randomUUID } from "node:crypto";
import { oneLine, type RunHandle, type ToolResult } from "svc/sdk";
import type { ServedCall } from "./served-tool.ts";

/** A client hears from a run at least this often: many give up after a minute without a word. */
const ALIVE_MS = 10_000;
const MAX_PROGRESS_CHARS = 200;

interface Question {
  message: string;
  sessionKey?: string | undefined;
  model?: string | undefined;
  agentId?: string | undefined;
}

/** Runs an agent; the run ends with the call. */
export async function askAgent(
  { message, sessionKey, model, agentId }: Question,
  { ctx, http, signal, progress }: ServedCall,
): Promise<ToolResult> {
  const agents = ctx.service("agents@1");
  const target = agents.resolve({ sessionKey: sessionKey ?? `mcp:${randomUUID()}`, ...(agentId === undefined ? {} : { agentId }) });
  signal.throwIfAborted();
  const handle = await agents.run({
    ...target,
    message,
    trigger: "user",
    isRepeatable: false,
    ...(sessionKey === undefined ? { transcript: "single" as const } : {}),
    ...(model === undefined ? {} : { model }),
    actor: { kind: "http", scopes: http.scopes },
  });
  const leave = () => handle.abort("disconnect");
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  const watching = progress && watch(handle, progress, ctx.timers);
  try {
    const outcome = await handle.done;
    if (outcome.status === "ok") return { content: [{ type: "text", text: outcome.text === "" ? "(no answer)" : outcome.text }] };
    const reason = outcome.error ?? outcome.code ?? "it failed";
    return { content: [{ type: "text", text: outcome.text === "" ? reason : `${outcome.text}\n\n${reason}` }], isError: true };
  } finally {
    signal.removeEventListener("abort", leave);
    watching?.dispose();
  }
}

/** Tells what a run does: the tools that it calls, and its answer as it grows. */
function watch(handle: RunHandle, progress: (message: string) => void, timers: ServedCall["ctx"]["timers"]): { dispose(): void } {
  const began = performance.now();
  const alive = timers.setInterval(() => progress(`working, ${Math.round((performance.now() - began) / 1_000)} s`), ALIVE_MS);
  let isOver = false;
  const read = async () => {
    let text = "";
    for await (const { stream, data } of handle.events()) {
      if (isOver) return;
      if (stream === "tool" && data.phase === "start" && typeof data.name === "string") progress(`calls ${data.name}`);
      if (stream !== "assistant" || typeof data.delta !== "string") continue;
      text = (text + data.delta).slice(-MAX_PROGRESS_CHARS);
      progress(oneLine(text, MAX_PROGRESS_CHARS));
    }
  };
  read().catch(() => undefined);
  return {
    dispose() {
      isOver = true;
      void alive.dispose();
    },
  };
}
