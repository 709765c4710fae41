import { type CliContext, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";
import { chosenAgents, openAccess } from "./access.ts";

const INDENT = "    ";

type Hit = ResultOf<"memory.search">["results"][number];

/** `svc memory search`: passages with their places. */
export default defineCommand({
  path: ["memory", "search"],
  summary: "Search the memory of an agent",
  details: "Searches the default agent unless --agent is given. --query wins over a query given as an argument.",
  examples: [
    ["A question", 'svc memory search "where is the router"'],
    ["As JSON", "svc memory search --query boiler --json"],
  ],
  positionals: [{ name: "query", required: false, rest: true }],
  options: {
    query: { kind: "string", description: "Search query", placeholder: "text" },
    "max-results": { kind: "integer", description: "Maximum number of results (default 6)", min: 1, max: 200, placeholder: "n" },
    "min-score": { kind: "number", description: "Minimum score, applied as given", min: 0, max: 1, placeholder: "x" },
    agent: { kind: "string", description: "Agent whose memory is searched", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values, positionals) => {
    const query = typeof values.query === "string" ? values.query : positionals.join(" ");
    if (query.trim() === "") throw commonErrors.failed({ message: "memory search: a query is missing: svc memory search <query>" });
    const access = await openAccess(cli);
    try {
      const agentId = values.agent === undefined ? access.agents.default : (chosenAgents(access, values.agent)[0] as string);
      const answer = await access.search(agentId, query, {
        ...(typeof values["max-results"] === "number" ? { maxResults: values["max-results"] } : {}),
        ...(typeof values["min-score"] === "number" ? { minScore: values["min-score"] } : {}),
      });
      if (cli.json) cli.stdout.json({ ok: answer.unavailable !== true, ...answer });
      else print(cli, answer);
      return answer.unavailable === true ? 1 : 0;
    } finally {
      await access.close();
    }
  },
});

function print(cli: CliContext, answer: ResultOf<"memory.search">): void {
  if (answer.unavailable === true) {
    cli.stderr.line(cli.color.red(`memory search is not available: ${answer.error ?? "unknown reason"}`));
    if (answer.action !== undefined && answer.action !== answer.error) cli.stderr.line(answer.action);
    return;
  }
  for (const [position, hit] of answer.results.entries()) {
    if (position > 0) cli.stdout.line();
    cli.stdout.line(`${cli.color.cyan(cli.color.bold(placeOf(hit)))}  ${cli.color.dim(scoresOf(hit, answer.searchMode))}`);
    for (const line of hit.snippet.trim().split("\n")) cli.stdout.line(`${INDENT}${line}`.trimEnd());
  }
  if (answer.results.length === 0) cli.stdout.line("No matches.");
  if (answer.warning !== undefined) cli.stderr.line(cli.color.yellow(answer.warning));
}

/** The score, and where two legs made it what each of them gave: a dash for a leg that did not find the passage. */
function scoresOf(hit: Hit, mode: ResultOf<"memory.search">["searchMode"]): string {
  const leg = (score: number | undefined) => score?.toFixed(2) ?? "–";
  const legs = mode === "hybrid" ? `  vector ${leg(hit.vectorScore)}  words ${leg(hit.textScore)}` : "";
  return `score ${hit.score.toFixed(2)}${legs}`;
}

function placeOf({ path, startLine, endLine }: Hit): string {
  return `${printableLine(path)}:${startLine}${endLine > startLine ? `-${endLine}` : ""}`;
}
