import { type Agents, type Clock, type Store, type Tool, z } from "svc/sdk";

const input = z.strictObject({});

interface Deps {
  store: Pick<Store, "sessions">;
  agents: Pick<Agents, "list">;
  clock: Pick<Clock, "now">;
}

/** `session_status`: the time, who and where the agent is, and what the conversation has used. */
export function statusTool({ store, agents, clock }: Deps): Tool<z.output<typeof input>> {
  return {
    name: "session_status",
    description:
      "Tells the present date and time with its zone, your agent and session, the model, and the tokens and cost of this conversation so far.",
    input,
    readOnly: true,
    async run(_, { agentId, sessionKey }) {
      const agent = agents.list().find(({ id }) => id === agentId);
      const session = await store.sessions.get(sessionKey);
      const model = session?.model ?? agent?.models[0];
      return {
        ...timeOf(clock.now()),
        agent: agentId,
        session: sessionKey,
        ...(model === undefined ? {} : { model }),
        ...(session ? usageOf(session) : {}),
      };
    },
  };
}

function timeOf(now: number) {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", timeZone }).format(now);
  return { now: local, zone: timeZone, utc: new Date(now).toISOString() };
}

function usageOf({
  inputTokens,
  outputTokens,
  totalTokens,
  costNanos,
}: {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  costNanos?: number;
}) {
  return {
    tokens: { input: inputTokens, output: outputTokens, inContext: totalTokens },
    // A model without a price has no cost, which is not a cost of zero.
    ...(costNanos === undefined ? {} : { costUsd: costNanos / 1e9 }),
  };
}
