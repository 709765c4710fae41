import { defineCommand } from "svc/sdk";
import { chosenAgents, openAccess } from "./access.ts";

/** `svc memory reset`: the index goes, the notes stay. */
export default defineCommand({
  path: ["memory", "reset"],
  summary: "Drop the memory index, never the notes",
  details: "The index is rebuilt at the next sync or search. Without --agent the default agent's index is dropped.",
  examples: [["Start over", "svc memory reset && svc memory index"]],
  options: {
    agent: { kind: "string", description: "Agent whose index is dropped", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const access = await openAccess(cli);
    try {
      const agentId = values.agent === undefined ? access.agents.default : (chosenAgents(access, values.agent)[0] as string);
      const { removed } = await access.reset(agentId);
      if (cli.json) cli.stdout.json({ ok: true, agentId, removed });
      else cli.stdout.line(removed ? `${agentId}: index dropped; the notes are untouched` : `${agentId}: there was no index`);
      return 0;
    } finally {
      await access.close();
    }
  },
});
