import { type CliContext, defineCommand, printableLine, type ResultOf } from "svc/sdk";

type Summary = ResultOf<"usage.summary">;

export default defineCommand({
  path: ["usage"],
  summary: "Show tokens and cost by day, agent, model or conversation",
  examples: [
    ["The last thirty days", "svc usage"],
    ["Which model cost what this week", "svc usage --days 7 --by model"],
    ["Conversations", "svc usage --by session"],
  ],
  options: {
    days: { kind: "integer", description: "Days up to today (default 30)", min: 1, max: 400, placeholder: "n" },
    by: { kind: "string", description: "One line for each (default day)", choices: ["day", "agent", "model", "session"] },
    agent: { kind: "string", description: "Only this agent", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: (cli, { days, by, agent }) =>
    cli.withClient(async (client) => {
      const only = typeof agent === "string" ? { agentId: agent } : {};
      if (by === "session") {
        const answer = await client.request("usage.sessions", only);
        if (cli.json) cli.stdout.json({ ok: true, ...answer });
        else showSessions(cli, answer);
        return 0;
      }
      const wanted = by === "agent" || by === "model" ? by : "day";
      const answer = await client.request("usage.summary", { by: wanted, ...only, ...(typeof days === "number" ? { days } : {}) });
      if (cli.json) cli.stdout.json({ ok: true, ...answer });
      else showSummary(cli, answer);
      return 0;
    }),
});

function showSummary(cli: CliContext, { by, from, to, rows, total }: Summary): void {
  if (rows.length === 0) return cli.stdout.line(`No runs from ${from} to ${to}.`);
  const all = rows.length > 1 ? [...rows, { name: "total", ...total }] : rows;
  cli.stdout.table([by.toUpperCase(), "RUNS", "IN", "OUT", "CACHED", "COST"], all.map(lineOf));
  if (total.replays > 0) cli.stdout.line(`The tokens of ${total.replays} replays (svc runs replay) are among them.`);
  if (total.unpriced > 0) {
    cli.stdout.line(
      `${total.unpriced} of ${total.runs + total.replays} runs used models without a price (models.providers.<id>.models[].cost); they are not in the cost.`,
    );
  }
}

function lineOf({ name, runs, input, output, cacheRead, costUsd }: Summary["rows"][number]): string[] {
  return [printableLine(name), String(runs), String(input), String(output), String(cacheRead), costText(costUsd)];
}

function showSessions(cli: CliContext, { sessions }: ResultOf<"usage.sessions">): void {
  if (sessions.length === 0) return cli.stdout.line("No conversations.");
  const rows = sessions.map(({ key, title = "", input, output, context, costUsd }) => [
    printableLine(key),
    String(input),
    String(output),
    String(context),
    costText(costUsd),
    printableLine(title),
  ]);
  cli.stdout.table(["SESSION", "IN", "OUT", "CONTEXT", "COST", "TITLE"], rows);
}

function costText(cost: number | undefined): string {
  return cost === undefined ? "-" : `$${cost.toFixed(cost >= 1 ? 2 : 4)}`;
}
