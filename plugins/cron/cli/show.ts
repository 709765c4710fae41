import { type CliContext, type CliValues, defineCommand } from "svc/sdk";
import { findId, jobColumns, jobRow, json, readJobs, runLine, timeText } from "./text.ts";

const status = defineCommand({
  path: ["cron", "status"],
  summary: "Show whether jobs are run, and when the next is due",
  options: { json },
  rpc: true,
  run: (cli) =>
    cli.withClient(async (client) => {
      const answer = await client.request("cron.status", {});
      if (cli.json) cli.stdout.json({ ok: true, ...answer });
      else {
        const { enabled, jobs, running, nextWakeAtMs, broken = [] } = answer;
        cli.stdout.line(
          enabled ? "Jobs are run." : "Jobs are not run: cron.enabled is false, SVC_SKIP_CRON is 1, or the gateway is in safe mode.",
        );
        cli.stdout.line(`${jobs} ${jobs === 1 ? "job" : "jobs"}, ${running} running.`);
        if (nextWakeAtMs !== undefined) cli.stdout.line(`Next: ${timeText(nextWakeAtMs)}`);
        for (const id of broken) cli.stdout.line(`Cannot be read, so it does not run: ${id} (svc cron rm ${id})`);
      }
      return 0;
    }),
});

const list = defineCommand({
  path: ["cron", "list"],
  summary: "List jobs",
  options: {
    all: { kind: "flag", description: "Those that are switched off, too" },
    agent: { kind: "string", description: "Only those of this agent", placeholder: "id" },
    json,
  },
  rpc: true,
  run: (cli, { all, agent }) =>
    cli.withClient(async (client) => {
      const question = { includeDisabled: all === true, ...(typeof agent === "string" ? { agentId: agent } : {}) };
      const jobs = await readJobs(client, question);
      if (cli.json) cli.stdout.json({ ok: true, jobs });
      else if (jobs.length > 0) cli.stdout.table(jobColumns, jobs.map(jobRow));
      else cli.stdout.line(all === true ? "No jobs." : "No jobs that are on; --all shows the others.");
      return 0;
    }),
});

const runs = defineCommand({
  path: ["cron", "runs"],
  summary: "List what became of runs, the newest first",
  positionals: [{ name: "id", required: false }],
  options: {
    limit: { kind: "integer", description: "At most this many (default 50)", min: 1, max: 200, placeholder: "n" },
    offset: { kind: "integer", description: "Leave out so many of the newest", min: 0, placeholder: "n" },
    json,
  },
  rpc: true,
  run: showRuns,
});

export default [status, list, runs];

function showRuns(cli: CliContext, { limit, offset }: CliValues, [typed]: string[]): Promise<number> {
  return cli.withClient(async (client) => {
    const id = typed === undefined ? {} : { id: await findId(client, typed) };
    const page = { ...(typeof limit === "number" ? { limit } : {}), ...(typeof offset === "number" ? { offset } : {}) };
    const answer = await client.request("cron.runs", { ...id, ...page });
    if (cli.json) cli.stdout.json({ ok: true, ...answer });
    else {
      for (const entry of answer.entries) cli.stdout.line(runLine(entry));
      if (answer.entries.length === 0) cli.stdout.line("No runs.");
      if (answer.nextOffset !== null) cli.stdout.line(`More: svc cron runs --offset ${answer.nextOffset}`);
    }
    return 0;
  });
}
