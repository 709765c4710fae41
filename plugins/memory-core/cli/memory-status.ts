import { type CliContext, defineCommand, type MemoryStatus } from "svc/sdk";
import { chosenAgents, type MemoryAccess, openAccess } from "./access.ts";
import { runIndex } from "./run-index.ts";

/** `svc memory status`: what is indexed, where, and what is wrong. */
export default defineCommand({
  path: ["memory", "status"],
  summary: "Show the state of the memory index",
  details: "Without --agent all agents are shown. Exits with 1 when an index reports a problem.",
  examples: [
    ["All agents", "svc memory status"],
    ["Bring it up to date first", "svc memory status --index"],
  ],
  options: {
    agent: { kind: "string", description: "Only this agent", placeholder: "id" },
    index: { kind: "flag", description: "Bring the index up to date first" },
    fix: { kind: "flag", description: "Rebuild an index that reports a problem" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const access = await openAccess(cli);
    try {
      const all: MemoryStatus[] = [];
      for (const agentId of chosenAgents(access, values.agent)) {
        if (values.index === true) await runIndex(cli, access, { agentId, force: false });
        all.push(await repaired(cli, access, { agentId, fix: values.fix === true }));
      }
      const isWell = all.every((status) => status.lastError === undefined);
      if (cli.json) cli.stdout.json({ ok: isWell, agents: all });
      else print(cli, all, access.agents.default);
      return isWell ? 0 : 1;
    } finally {
      await access.close();
    }
  },
});

async function repaired(cli: CliContext, access: MemoryAccess, { agentId, fix }: { agentId: string; fix: boolean }): Promise<MemoryStatus> {
  const status = await access.status(agentId);
  if (!fix || status.lastError === undefined || !status.fts.enabled) return status;
  await runIndex(cli, access, { agentId, force: true });
  return access.status(agentId);
}

function print(cli: CliContext, all: readonly MemoryStatus[], defaultAgent: string): void {
  for (const [position, status] of all.entries()) {
    if (position > 0) cli.stdout.line();
    const title = `Memory of ${status.agentId}`;
    cli.stdout.line(cli.color.bold(status.agentId === defaultAgent ? `${title} (default)` : title));
    for (const [name, value] of rowsOf(status)) cli.stdout.line(`  ${name.padEnd(10)} ${value}`);
    if (status.lastError !== undefined) cli.stdout.line(`  ${"Problem".padEnd(10)} ${cli.color.red(status.lastError)}`);
  }
}

function rowsOf(status: MemoryStatus): Array<[string, string]> {
  return [
    ["Search", status.custom.searchMode === "fts-only" ? "keywords only (no embedding provider)" : status.custom.searchMode],
    ["Index", `${count(status.files, "file")}, ${count(status.chunks, "chunk")}; ${freshness(status)}`],
    ["Workspace", status.workspace],
    ["Database", status.dbPath],
    ...(status.lastSyncAt === undefined ? [] : [["Last sync", new Date(status.lastSyncAt).toLocaleString("sv-SE")] as [string, string]]),
  ];
}

function freshness({ syncing, dirty, lastSyncAt }: MemoryStatus): string {
  if (syncing) return "a sync is running";
  if (lastSyncAt === undefined) return "not compared with the files yet";
  return dirty ? "notes have changed since the last sync" : "up to date";
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
