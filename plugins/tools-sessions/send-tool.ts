import { randomUUID } from "node:crypto";
import { type Agents, neutralize, type Store, type Tool, z } from "svc/sdk";
import { answerOf, answerResult } from "./answer.ts";
import { Chains } from "./chains.ts";
import { sessionToolErrors } from "./errors.ts";
import { DENIED, withDenied } from "./spawns.ts";
import { isHelper, isVisible, type Visibility } from "./visible.ts";

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
  const chains = new Chains();
  return {
    name: "sessions_send",
    description: "Writes a message to the agent of another conversation that you may see, and can wait for its answer.",
    input,
    timeoutMs: 330_000,
    async run({ key, text, waitSeconds = 0 }, call) {
      if (key === call.sessionKey) throw sessionToolErrors.sendRefused({ reason: "this is your own session; just answer" });
      const session = await store.sessions.get(key);
      if (!session || !isVisible(session, call, visibility())) throw sessionToolErrors.sessionNotVisible({ key });
      const runId = randomUUID();
      const reason = chains.add(call.runId, runId);
      if (reason !== undefined) throw sessionToolErrors.sendRefused({ reason });
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
      if (waitSeconds === 0) return { sent: true, runId };
      return answerResult(await answerOf(run, waitSeconds * 1_000, call), { key, source: "Session" });
    },
  };
}
