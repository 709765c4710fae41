import { commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";
import { callText, seconds, textLines, usageText } from "./explain-text.ts";

const DEFAULT_SECONDS = 300;
/** Beyond the gateway's own limit, so that it is the one that says it. */
const GRACE_MS = 5_000;

type Replayed = ResultOf<"runs.replay">;

export default defineCommand({
  path: ["runs", "replay"],
  summary: "Ask another model what a run asked, without side effects",
  details:
    "The prompt of the run's first turn goes to the model as it was sent, with secrets masked. No tool runs: a call that the run made, too, gets its recorded\nresult, and any other one ends the replay. Nothing is stored in a session or delivered; the tokens cost money and are counted. Exits with 1 without an answer.",
  examples: [["Would another model have known better?", "svc runs replay 5f0c1f8e-6c2b-4d0a-9a55-0a3c2f1f7b11 --model openai/gpt-x"]],
  positionals: [{ name: "run", required: true }],
  options: {
    model: { kind: "string", description: "Model that is asked, as provider/model", placeholder: "ref" },
    timeout: {
      kind: "integer",
      description: `Time limit for the answer (default ${DEFAULT_SECONDS})`,
      min: 1,
      max: 1_800,
      placeholder: "s",
    },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, { model, timeout }, [runId]) => {
    if (!runId || typeof model !== "string")
      throw commonErrors.usage({ message: "runs replay: expected the id of a run and --model <provider/model>" });
    const timeoutMs = (typeof timeout === "number" ? timeout : DEFAULT_SECONDS) * 1_000;
    const answer = await cli.withClient((client) =>
      client.request("runs.replay", { runId, model, timeoutMs }, { timeoutMs: timeoutMs + GRACE_MS }),
    );
    if (cli.json) cli.stdout.json(answer);
    else for (const line of replayText(answer)) cli.stdout.line(line);
    return answer.replay.stopped === undefined ? 0 : 1;
  },
});

/** Both answers, one below the other. Pure. */
export function replayText({ original, replay, isSame, notes }: Replayed): string[] {
  return [
    `${printableLine(original.model ?? "no model")}, then: ${usageText(original.usage)}, ${seconds(original.durationMs)}`,
    ...side(original.calls, original.answer),
    "",
    `${printableLine(replay.model)}, now: ${usageText(replay.usage)}, ${seconds(replay.durationMs)}`,
    ...side(replay.calls, replay.answer),
    ...stoppedLine(replay.stopped),
    "",
    isSame ? "The answers are the same." : "The answers differ.",
    ...notes.map((note) => `Not the prompt as it was sent: ${printableLine(note)}`),
  ];
}

function side(calls: Replayed["replay"]["calls"], answer: string): string[] {
  return [...calls.map(({ name, arguments: args }) => `→ ${callText(name, args)}`), ...textLines(answer)].map((line) => `  ${line}`);
}

function stoppedLine(stopped: Replayed["replay"]["stopped"]): string[] {
  if (!stopped) return [];
  if (stopped.reason === "tool")
    return [`  Stopped: it wanted ${callText(stopped.tool ?? "", stopped.arguments)}, whose result was never recorded.`];
  return [`  Stopped: ${printableLine(stopped.error ?? stopped.reason)}`];
}
