import { type Agents, type Tool, type ToolCall, withLimit, z } from "svc/sdk";
import { type Answer, answerOf, answerResult } from "./answer.ts";
import { sessionToolErrors } from "./errors.ts";
import type { Spawn, Spawns } from "./spawns.ts";
import { isHelper } from "./visible.ts";

const input = z.strictObject({
  task: z
    .string()
    .min(1)
    .max(50_000)
    .describe("What the helper has to do, with everything it needs to know: it does not see this conversation"),
  agentId: z.string().min(1).max(64).optional().describe("Agent that does it; default yourself"),
  model: z.string().min(1).max(200).optional().describe("Model that does it"),
  timeoutSeconds: z.number().int().min(10).max(900).optional().describe("Time it may take, at most and by default 900"),
  waitSeconds: z.number().int().min(0).max(300).optional().describe("Wait so long for its answer; default 0: it is told to you later"),
});

interface Deps {
  agents: Pick<Agents, "resolve" | "checkModel">;
  spawns: Spawns;
}

/** `sessions_spawn`: a helper that does one task in a session of its own and reports back. */
export function spawnTool({ agents, spawns }: Deps): Tool<z.output<typeof input>> {
  return {
    name: "sessions_spawn",
    description:
      "Hands a task to a helper that works in a session of its own, four at a time. It cannot start helpers, schedule jobs or write messages. Its result is told to you when it is there.",
    input,
    timeoutMs: 330_000,
    async run({ task, agentId = undefined, model, timeoutSeconds = 900, waitSeconds = 0 }, call) {
      if (isHelper(call.sessionKey)) throw sessionToolErrors.spawnRefused({ reason: "a helper starts no helpers; do the task yourself" });
      const target = agents.resolve({ agentId: agentId ?? call.agentId });
      if (target.agentId !== call.agentId && call.origin !== "operator")
        throw sessionToolErrors.spawnRefused({ reason: "in this conversation you may hand tasks to yourself only; leave agentId out" });
      if (model !== undefined) await agents.checkModel({ agentId: target.agentId, model });
      const spawn: Spawn = {
        agentId: target.agentId,
        parent: { agentId: call.agentId, sessionKey: call.sessionKey, origin: call.origin },
        task,
        ...(model === undefined ? {} : { model }),
        timeoutMs: timeoutSeconds * 1_000,
        ...(call.tools ? { tools: call.tools } : {}),
      };
      return waitSeconds === 0
        ? { key: (await spawns.start(spawn)).sessionKey, state: "started" }
        : await waited(spawns, { spawn, waitSeconds, call });
    },
  };
}

/** Starts a helper and waits for its answer. One that the call brings is not told again. */
async function waited(spawns: Spawns, { spawn, waitSeconds, call }: { spawn: Spawn; waitSeconds: number; call: ToolCall }) {
  let settle: (isTaken: boolean) => void = () => undefined;
  const isTaken = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  let answer: Answer | undefined;
  try {
    const until = performance.now() + waitSeconds * 1_000;
    // A call outside of a run has no end that anybody is told of.
    const runId = call.runId === call.toolCallId ? undefined : call.runId;
    const { sessionKey: key, begun } = await spawns.start(spawn, { runId, isTaken });
    const run = await withLimit(begun, waitSeconds * 1_000, () => undefined, call.signal);
    if (!run) return { key, state: "waiting for its turn" };
    answer = await answerOf(run, Math.max(0, until - performance.now()), call);
    return answerResult(answer, { key, source: "Helper" });
  } finally {
    settle(answer !== undefined && answer.state !== "at work");
  }
}
