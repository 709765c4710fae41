import { randomUUID } from "node:crypto";
import { type Agents, cutEnd, neutralize, type Store, settledWithin, type Tool, type ToolCall, z } from "svc/sdk";
import { sessionToolErrors } from "./errors.ts";
import { DENIED, withDenied } from "./spawns.ts";
import { isHelper, isVisible, type Visibility } from "./visible.ts";

/** Messages that sessions may send each other in one go. */
const MAX_CHAIN = 3;
/** Runs whose place in a chain is remembered. */
const MAX_REMEMBERED = 1_000;
const MAX_ANSWER_CHARS = 20_000;

const input = z.strictObject({
  key: z.string().min(1).max(512).describe("Key of the session to write to, as sessions_list has it"),
  text: z.string().min(1).max(50_000).describe("Message for the agent there"),
  waitSeconds: z.number().int().min(0).max(300).optional().describe("Wait so long for its answer; default 0: do not"),
});

interface Deps {
  store: Pick<Store, "sessions">;
  agents: Pick<Agents, "run">;
  visibility: () => Visibility;
}

/** `sessions_send`: a message for the agent of another conversation. What operators alone may do, the run that answers it may not. */
export function sendTool({ store, agents, visibility }: Deps): Tool<z.output<typeof input>> {
  const chains = new Map<string, number>();
  return {
    name: "sessions_send",
    description: "Writes a message to the agent of another conversation that you may see, and can wait for its answer.",
    input,
    timeoutMs: 330_000,
    async run({ key, text, waitSeconds = 0 }, call) {
      if (key === call.sessionKey) throw sessionToolErrors.sendRefused({ reason: "this is your own session; just answer" });
      const session = await store.sessions.get(key);
      if (!session || !isVisible(session, call, visibility())) throw sessionToolErrors.sessionNotVisible({ key });
      const place = (chains.get(call.runId) ?? 0) + 1;
      if (place > MAX_CHAIN)
        throw sessionToolErrors.sendRefused({ reason: `sessions have written to each other ${MAX_CHAIN} times already; answer the user` });
      const runId = randomUUID();
      remember(chains, runId, place);
      const run = await agents.run({
        runId,
        agentId: session.agentId,
        sessionKey: key,
        message: `Message from session ${call.sessionKey}:\n\n${neutralize(text)}`,
        trigger: "user",
        actor: { kind: "internal", scopes: [] },
        origin: call.origin,
        tools: withDenied(call.tools, isHelper(key) ? DENIED : ["cron", "gateway", "nodes"]),
      });
      return waitSeconds === 0 ? { sent: true, runId } : await answerOf(run, waitSeconds * 1_000, call);
    },
  };
}

/** Answer of a run, or that it is still at work. */
export async function answerOf(run: Awaited<ReturnType<Agents["run"]>>, waitMs: number, { signal }: Pick<ToolCall, "signal">) {
  const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await settledWithin(Promise.race([run.done, gone]), waitMs);
  signal.throwIfAborted();
  const ended = await Promise.race([run.done, Promise.resolve(undefined)]);
  if (!ended) return { runId: run.runId, state: "at work" };
  return ended.status === "ok"
    ? { runId: run.runId, state: "answered", answer: cutEnd(neutralize(ended.text), MAX_ANSWER_CHARS) }
    : { runId: run.runId, state: "failed", error: ended.error ?? ended.code ?? "unknown reason" };
}

function remember(chains: Map<string, number>, runId: string, place: number): void {
  chains.set(runId, place);
  const [oldest] = chains.keys();
  if (chains.size > MAX_REMEMBERED && oldest !== undefined) chains.delete(oldest);
}
