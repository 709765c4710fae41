import { defineCommand, type MemoryStatus } from "svc/sdk";
import { chosenAgents, openAccess } from "./access.ts";
import { runIndex } from "./run-index.ts";
import { leftOutRows } from "./status-rows.ts";

interface Done extends Pick<MemoryStatus, "agentId" | "files" | "chunks" | "leftOut"> {
  started: boolean;
  joined: boolean;
  ms: number;
}

/** `svc memory index`: waits until the index is up to date. */
export default defineCommand({
  path: ["memory", "index"],
  summary: "Bring the memory index up to date",
  details:
    "A running gateway does this by itself; the command waits for the end. --force rebuilds the whole index; searches continue meanwhile.",
  examples: [
    ["All agents", "svc memory index"],
    ["From scratch, one agent", "svc memory index --force --agent main"],
  ],
  options: {
    force: { kind: "flag", description: "Rebuild the whole index" },
    agent: { kind: "string", description: "Only this agent", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const access = await openAccess(cli);
    try {
      const done: Done[] = [];
      for (const agentId of chosenAgents(access, values.agent)) {
        const startedAt = performance.now();
        const { started, joined } = await runIndex(cli, access, { agentId, force: values.force === true });
        const ms = Math.round(performance.now() - startedAt);
        const { files, chunks, leftOut } = await access.status(agentId);
        done.push({ agentId, started, joined, files, chunks, ms, ...(leftOut ? { leftOut } : {}) });
        if (cli.json) continue;
        cli.stdout.line(
          `${agentId}: ${files} files, ${chunks} chunks, ${joined ? "joined a running sync, " : ""}${(ms / 1000).toFixed(1)} s`,
        );
        for (const [, why] of leftOutRows(leftOut)) cli.stderr.line(`${agentId}: left out: ${why}`);
      }
      if (cli.json) cli.stdout.json({ ok: true, agents: done });
      return 0;
    } finally {
      await access.close();
    }
  },
});
