import { type CliContext, defineCommand, type MemoryStatus, printableLine } from "svc/sdk";
import { chosenAgents, type MemoryAccess, openAccess } from "./access.ts";
import { dreamRows } from "./dream-text.ts";
import { runIndex } from "./run-index.ts";
import { skippedRows, statusRows } from "./status-rows.ts";

/** `svc memory status`: what is indexed, where, and what is wrong. */
export default defineCommand({
  path: ["memory", "status"],
  summary: "Show the state of the memory index",
  details:
    "Without --agent all agents are shown. Exits with 1 when an index reports a problem, or when --deep got no vector from the provider. How dreaming stands is shown below.",
  examples: [
    ["All agents", "svc memory status"],
    ["Bring it up to date first", "svc memory status --index"],
    ["Ask the embedding provider for a vector", "svc memory status --deep"],
  ],
  options: {
    agent: { kind: "string", description: "Only this agent", placeholder: "id" },
    deep: { kind: "flag", description: "Ask the embedding provider for one vector" },
    index: { kind: "flag", description: "Bring the index up to date first" },
    fix: { kind: "flag", description: "Rebuild an index that reports a problem, and put the state of dreaming in order" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const access = await openAccess(cli);
    try {
      const all: MemoryStatus[] = [];
      const agents = chosenAgents(access, values.agent);
      const dreaming = await dreamingOf(access, { agents, fix: values.fix === true });
      for (const agentId of agents) {
        if (values.index === true) await runIndex(cli, access, { agentId, force: false });
        all.push(await repaired(cli, access, { agentId, deep: values.deep === true, fix: values.fix === true }));
      }
      const isWell = all.every((status) => status.lastError === undefined && status.probe?.ok !== false);
      if (cli.json) cli.stdout.json({ ok: isWell, agents: all, dreaming });
      else {
        print(cli, all, access.agents.default);
        cli.stdout.line();
        for (const line of dreaming.fixed) cli.stdout.line(printableLine(line));
        for (const [name, value] of dreamRows(dreaming)) cli.stdout.line(`${name.padEnd(11)} ${printableLine(value)}`);
        if (values.deep === true) printSkipped(cli, all);
      }
      return isWell ? 0 : 1;
    } finally {
      await access.close();
    }
  },
});

/** State of dreaming, with `fix` after it was put in order. */
async function dreamingOf(access: MemoryAccess, { agents, fix }: { agents: readonly string[]; fix: boolean }) {
  const fixed: string[] = [];
  for (const agentId of fix ? agents : []) for (const line of await access.dreams.repair(agentId)) fixed.push(`${agentId}: ${line}`);
  return { ...(await access.dreams.status(agents.length === 1 ? agents[0] : undefined)), fixed };
}

interface Wanted {
  agentId: string;
  deep: boolean;
  fix: boolean;
}

async function repaired(cli: CliContext, access: MemoryAccess, { agentId, deep, fix }: Wanted): Promise<MemoryStatus> {
  const status = await access.status(agentId, { deep });
  if (!fix || status.lastError === undefined || !status.fts.enabled) return status;
  await runIndex(cli, access, { agentId, force: true });
  return access.status(agentId, { deep });
}

function print(cli: CliContext, all: readonly MemoryStatus[], defaultAgent: string): void {
  for (const [position, status] of all.entries()) {
    if (position > 0) cli.stdout.line();
    const title = `Memory of ${status.agentId}`;
    cli.stdout.line(cli.color.bold(status.agentId === defaultAgent ? `${title} (default)` : title));
    for (const [name, value] of statusRows(status)) cli.stdout.line(`  ${name.padEnd(10)} ${printableLine(value)}`);
    if (status.lastError !== undefined) cli.stdout.line(`  ${"Problem".padEnd(10)} ${cli.color.red(printableLine(status.lastError))}`);
  }
}

function printSkipped(cli: CliContext, all: readonly MemoryStatus[]): void {
  const rows = skippedRows(all);
  if (rows.length === 0) return;
  cli.stdout.line();
  cli.stdout.line(cli.color.bold("Embedding providers that were checked"));
  for (const [id, reason] of rows) cli.stdout.line(`  ${id.padEnd(10)} ${printableLine(reason)}`);
}
