import { type CliContext, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const DEFAULT_SECONDS = 60;
/** Beyond the model's own limit, so that the gateway is the one that says it. */
const GRACE_MS = 5_000;

const test = defineCommand({
  path: ["models", "test"],
  summary: "Ask a model for one word",
  details:
    "One real request, a few tokens: is the server there, does it take the key, does it know the model? Without a name, the model that answers the\ndefault agent. Exits with 1 when there was no answer. An answer ends the rest of a provider that had failed.",
  examples: [["After a new key", "svc models test openai/gpt-x"]],
  positionals: [{ name: "model", required: false }],
  options: {
    agent: { kind: "string", description: "Agent whose model is asked", placeholder: "id" },
    timeout: {
      kind: "integer",
      description: `Time limit for the answer (default ${DEFAULT_SECONDS})`,
      min: 1,
      max: 600,
      placeholder: "s",
    },
    json,
  },
  rpc: true,
  run: async (cli, values, [model]) => {
    const timeoutMs = (typeof values.timeout === "number" ? values.timeout : DEFAULT_SECONDS) * 1_000;
    const params = {
      timeoutMs,
      ...(model === undefined ? {} : { model }),
      ...(typeof values.agent === "string" ? { agentId: values.agent } : {}),
    };
    const answer = await cli.withClient((client) => client.request("models.test", params, { timeoutMs: timeoutMs + GRACE_MS }));
    if (cli.json) cli.stdout.json(answer);
    else printTest(cli, answer);
    return answer.ok ? 0 : 1;
  },
});

function printTest(cli: CliContext, answer: ResultOf<"models.test">): void {
  const ref = printableLine(answer.provider === "" ? "models test" : `${answer.provider}/${answer.model}`);
  const took = `${(answer.latencyMs / 1_000).toFixed(1)} s`;
  if (answer.ok) {
    const { input, output, cacheRead } = answer.usage;
    const count = input + cacheRead + output === 0 ? "" : `, ${input + cacheRead} tokens in, ${output} out`;
    cli.stdout.line(`${ref}: ${cli.color.green("answered")} in ${took}${count}`);
  } else {
    cli.stderr.line(`${ref}: ${cli.color.red("no answer")} (${answer.fault.replaceAll("_", " ")}, ${took})`);
    cli.stderr.line(`  ${printableLine(answer.error)}`);
  }
}

const set = defineCommand({
  path: ["models", "set"],
  summary: "Set the model that answers",
  details: "Without --agent, that of all agents without one of their own. Without --fallback, the present fallbacks stay.",
  examples: [
    ["One model for all agents", "svc models set openai/gpt-x"],
    ["With others to fall back on", "svc models set openai/gpt-x --fallback mistral/small --fallback lab/m"],
  ],
  positionals: [{ name: "model", required: true }],
  options: {
    agent: { kind: "string", description: "Only this agent", placeholder: "id" },
    fallback: { kind: "string", repeats: true, description: "Model tried after it; in order, may be repeated", placeholder: "model" },
    "no-fallback": { kind: "flag", description: "Remove the fallbacks" },
    json,
  },
  rpc: true,
  run: async (cli, values, [model]) => {
    if (!model) throw commonErrors.usage({ message: "models set: a model is required, as provider/model" });
    const fallbacks = typeof values.fallback === "string" ? values.fallback.split("\n") : undefined;
    if (fallbacks && values["no-fallback"] === true)
      throw commonErrors.usage({ message: "models set: expected --fallback or --no-fallback, got both" });
    const answer = await cli.withClient((client) =>
      client.request("models.set", {
        model,
        ...(typeof values.agent === "string" ? { agentId: values.agent } : {}),
        ...(fallbacks ? { fallbacks } : values["no-fallback"] === true ? { fallbacks: [] } : {}),
      }),
    );
    if (cli.json) cli.stdout.json(answer);
    else printSet(cli, answer);
    return 0;
  },
});

function printSet(cli: CliContext, { path, model, agents, ownModels, restartRequired }: ResultOf<"models.set">): void {
  cli.stdout.line(printableLine(`${path}: ${[model.primary, ...model.fallbacks].join(", then ")}`));
  if (agents.length > 1 || ownModels.length > 0) cli.stdout.line(printableLine(`Answers: ${agents.join(", ") || "no agent"}`));
  if (ownModels.length > 0) cli.stdout.line(printableLine(`Keep a model of their own: ${ownModels.join(", ")}`));
  if (restartRequired) cli.stdout.line("In force after a restart: svc gateway restart");
}

export default [test, set];
