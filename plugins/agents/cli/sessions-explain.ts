import { commonErrors, defineCommand } from "svc/sdk";
import { explainText } from "./explain-text.ts";
import { localTime } from "./local-time.ts";

const FULL_CHARS = 1_000_000;

export default defineCommand({
  path: ["sessions", "explain"],
  summary: "Show how a run came to its answer",
  details:
    "The requests to models with their faults, the tools with arguments, times and results, the passages of memory, tokens and cost, and with --prompt the\nprompt as it was sent. Secrets are masked. Ids of runs: svc sessions show <key> --json, the logs, events. Traces of the newest 500 runs are kept for 30 days.",
  examples: [
    ["Why the last answer was what it was", "svc sessions explain --session main"],
    ["The one before it, with the whole prompt", "svc sessions explain --session main --newest 2 --prompt"],
    ["One run", "svc sessions explain 5f0c1f8e-6c2b-4d0a-9a55-0a3c2f1f7b11"],
  ],
  positionals: [{ name: "run", required: false }],
  options: {
    session: { kind: "string", description: "Instead of a run: the newest one of this session that has ended", placeholder: "key" },
    newest: { kind: "integer", description: "With --session: 2 is the run before the newest", min: 1, max: 50, placeholder: "n" },
    turn: { kind: "integer", description: "Turn whose prompt is shown (default: the last)", min: 1, max: 1_000, placeholder: "n" },
    prompt: { kind: "flag", description: "Show the whole prompt" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, { session, newest, turn, prompt }, [runId]) => {
    if ((runId === undefined) === (typeof session !== "string"))
      throw commonErrors.usage({ message: "sessions explain: expected the id of a run, or --session <key>" });
    if (newest !== undefined && runId !== undefined)
      throw commonErrors.usage({ message: "sessions explain: --newest counts the runs of a session; expected --session <key>" });
    const params = {
      ...(runId === undefined ? {} : { runId }),
      ...(typeof session === "string" ? { sessionKey: session } : {}),
      ...(typeof newest === "number" ? { newest } : {}),
      ...(typeof turn === "number" ? { turn } : {}),
      ...(prompt === true ? { maxChars: FULL_CHARS } : {}),
    };
    const answer = await cli.withClient((client) => client.request("sessions.explain", params));
    if (cli.json) cli.stdout.json(answer);
    else for (const line of explainText(answer, { isFull: prompt === true, localTime })) cli.stdout.line(line);
    return 0;
  },
});
