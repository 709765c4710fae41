import { randomUUID } from "node:crypto";
import {
  type AcceptedResultOf,
  type CliClient,
  type CliContext,
  type CliValues,
  commonErrors,
  defineCommand,
  type EventPayloadOf,
  type FinalResultOf,
  type ParamsOf,
  printableLine,
} from "svc/sdk";

export default defineCommand({
  path: ["agent"],
  summary: "Ask an agent and wait for the answer",
  details:
    "Sends one message to the running gateway. Without --session-key the main session of the agent is used, so the conversation continues.",
  examples: [
    ["Ask the default agent", 'svc agent --message "Where is the router?"'],
    ["In a session of its own", 'svc agent -m "Plan the week" --session-key planning'],
  ],
  options: {
    message: { kind: "string", short: "m", description: "What to say", placeholder: "text" },
    agent: { kind: "string", description: "Agent id", placeholder: "id" },
    "session-key": { kind: "string", description: "Session to talk in", placeholder: "key" },
    thinking: { kind: "string", description: "Thinking level of the model", choices: ["off", "minimal", "low", "medium", "high"] },
    model: { kind: "string", description: "provider/model, a bare id or an alias; for this run only", placeholder: "model" },
    timeout: {
      kind: "integer",
      description: "Time limit of the run in seconds; 0 = none",
      min: 0,
      max: 86_400,
      placeholder: "s",
    },
    deliver: { kind: "flag", description: "Send the answer to a channel as well" },
    channel: { kind: "string", description: "Channel; default: the one of the session's last message", placeholder: "id" },
    to: { kind: "string", description: "Recipient there", placeholder: "recipient" },
    json: { kind: "flag", description: "Print the final answer as one JSON document" },
  },
  rpc: true,
  async run(cli, values) {
    const message = text(values.message);
    if (message === undefined || message.trim() === "") throw commonErrors.usage({ message: "agent: --message is required" });
    const client = await cli.connect();
    try {
      return await ask(cli, client, toParams(values, message));
    } finally {
      await client.close();
    }
  },
});

/** Sends one message and shows its answer as it comes. @returns the exit code @throws {SvcError} when the run fails */
export async function ask(cli: CliContext, client: CliClient, params: ParamsOf<"agent">): Promise<number> {
  const progress = showProgress(cli, client, params.idempotencyKey);
  const leave = stopOnSignal(cli, client);
  try {
    const final = await client.request("agent", params, { onAccepted: leave.accepted });
    progress.end();
    if (cli.json) cli.stdout.json(final);
    else if (!progress.wroteText) cli.stdout.line(answerOf(final));
    const notes = final.status === "ok" ? (final.result.meta.notes ?? []) : [];
    if (!cli.json) for (const note of notes) cli.stderr.line(cli.color.dim(`note: ${note}`));
    return 0;
  } catch (error) {
    progress.end();
    throw error;
  } finally {
    leave.end();
  }
}

/** Ctrl-C stops the run too: nobody would read its answer. */
function stopOnSignal(cli: CliContext, client: CliClient): { accepted(payload: AcceptedResultOf<"agent">): void; end(): void } {
  let run: AcceptedResultOf<"agent"> | undefined;
  const stop = () => {
    if (run) client.request("chat.abort", { sessionKey: run.sessionKey, runId: run.runId }).catch(() => undefined);
  };
  cli.signal.addEventListener("abort", stop, { once: true });
  return {
    accepted: (payload) => {
      run = payload;
    },
    end: () => cli.signal.removeEventListener("abort", stop),
  };
}

/** On a terminal the answer appears while it is written, tool calls as a dim line; elsewhere nothing but the final text. */
function showProgress(cli: CliContext, client: CliClient, runId: string): { readonly wroteText: boolean; end(): void } {
  let wrote = false;
  let item: string | undefined;
  const live = cli.stdout.isTTY && !cli.json;
  const off = client.on("agent", (payload) => {
    if (payload.runId !== runId || !live) return;
    const step = stepOf(payload);
    if (step !== undefined && cli.stderr.isTTY) cli.stderr.line(cli.color.dim(`· ${step}`));
    if (payload.stream !== "assistant") return;
    const { itemId, delta } = payload.data;
    if (wrote && itemId !== item) cli.stdout.write("\n\n");
    item = itemId;
    wrote = true;
    cli.stdout.write(delta);
  });
  return {
    get wroteText() {
      return wrote;
    },
    end() {
      off();
      if (wrote) cli.stdout.line();
    },
  };
}

/** A tool that begins, or a wait: for a place among the runs, or for the model. */
function stepOf(payload: EventPayloadOf<"agent">): string | undefined {
  if (payload.stream === "item" && payload.data.phase === "start") return printableLine(payload.data.title);
  if (payload.stream !== "lifecycle") return undefined;
  const { data } = payload;
  if (data.phase === "queued") return `waiting for a free place, number ${data.position}`;
  return data.phase === "waiting" ? `waiting for ${printableLine(data.model)}, silent for ${data.silentMs / 1_000} s` : undefined;
}

function toParams(values: CliValues, message: string): ParamsOf<"agent"> {
  return {
    message,
    idempotencyKey: randomUUID(),
    agentId: text(values.agent),
    sessionKey: text(values["session-key"]),
    thinking: text(values.thinking) as ParamsOf<"agent">["thinking"],
    model: text(values.model),
    timeout: typeof values.timeout === "number" ? values.timeout : undefined,
    ...(values.deliver === true ? { deliver: true, channel: text(values.channel), to: text(values.to) } : {}),
  };
}

function answerOf(final: FinalResultOf<"agent">): string {
  if (final.status !== "ok") return "";
  return final.result.payloads
    .map((p) => p.text)
    .filter((t) => t !== "")
    .join("\n\n");
}

function text(value: CliValues[string]): string | undefined {
  return typeof value === "string" ? value : undefined;
}
