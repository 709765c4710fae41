import { defineCommand } from "svc/sdk";
import { chosenAgents, openAccess } from "./access.ts";
import { runIndex } from "./run-index.ts";

/** `svc memory index`: waits until the index is up to date. */
export default defineCommand({
  path: ["memory", "index"],
  summary: "Bring the memory index up to date",
  details:
    "A running gateway does this by itself; the command waits for the end. --force makes the whole index anew; searches go on meanwhile.",
  examples: [
    ["All agents", "svc memory index"],
    ["From scratch, one agent", "svc memory index --force --agent main"],
  ],
  options: {
    force: { kind: "flag", description: "Make the whole index anew" },
    agent: { kind: "string", description: "Only this agent", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const access = await openAccess(cli);
    try {
      const done: Array<{ agentId: string; started: boolean; joined: boolean; files: number; chunks: number; ms: number }> = [];
      for (const agentId of chosenAgents(access, values.agent)) {
        const startedAt = performance.now();
        const { started, joined } = await runIndex(cli, access, { agentId, force: values.force === true });
        const ms = Math.round(performance.now() - startedAt);
        const { files, chunks } = await access.status(agentId);
        done.push({ agentId, started, joined, files, chunks, ms });
        if (!cli.json)
          cli.stdout.line(
            `${agentId}: ${files} files, ${chunks} chunks, ${joined ? "joined a running sync, " : ""}${(ms / 1000).toFixed(1)} s`,
          );
      }
      if (cli.json) cli.stdout.json({ ok: true, agents: done });
      return 0;
    } finally {
      await access.close();
    }
  },
});
