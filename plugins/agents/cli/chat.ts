import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { type CliClient, type CliContext, type CliValues, defineCommand, messageOf } from "svc/sdk";
import { ask } from "./agent.ts";

/** Longest wait for an answer to a word that only looks like a command. */
const WAIT_MS = 600_000;

export default defineCommand({
  path: ["chat"],
  summary: "Talk with an agent, line by line",
  details:
    "Each line is a message, or a command such as /help, /new or /model. Ctrl-D leaves; Ctrl-C stops what the agent is doing and leaves.",
  examples: [["A conversation of its own", "svc chat --session-key planning"]],
  options: {
    agent: { kind: "string", description: "Agent id", placeholder: "id" },
    "session-key": { kind: "string", description: "Session to talk in", placeholder: "key" },
    model: { kind: "string", description: "provider/model, a bare id or an alias; for this conversation here only", placeholder: "model" },
  },
  rpc: true,
  async run(cli, values) {
    const client = await cli.connect();
    const lines = createInterface({ input: process.stdin, terminal: false });
    const leave = () => lines.close();
    cli.signal.addEventListener("abort", leave, { once: true });
    try {
      if (cli.stdout.isTTY) cli.stderr.line(cli.color.dim("Write a line and press Enter; /help lists commands, Ctrl-D leaves."));
      return await converse(cli, client, { lines, values });
    } finally {
      cli.signal.removeEventListener("abort", leave);
      lines.close();
      await client.close();
    }
  },
});

/** Answers each line until there are no more. A message that fails is told, and the conversation goes on. @returns 1 when the last one failed */
export async function converse(
  cli: CliContext,
  client: CliClient,
  { lines, values }: { lines: AsyncIterable<string>; values: CliValues },
): Promise<number> {
  const place = placeOf(values);
  let code = 0;
  const prompt = () => cli.stdout.isTTY && cli.stderr.write(cli.color.bold("> "));
  prompt();
  for await (const line of lines) {
    const message = line.trim();
    if (message !== "") code = await answer(cli, client, { ...place, message }).catch((error: unknown) => told(cli, error));
    if (cli.signal.aborted) break;
    prompt();
  }
  if (cli.stdout.isTTY) cli.stdout.line();
  return code;
}

type Message = ReturnType<typeof placeOf> & { message: string };

async function answer(cli: CliContext, client: CliClient, { model, ...message }: Message): Promise<number> {
  const idempotencyKey = randomUUID();
  if (!message.message.startsWith("/")) return ask(cli, client, { ...message, model, idempotencyKey });
  const sessionKey = message.sessionKey ?? "main";
  const { status } = await client.request("chat.send", { ...message, sessionKey, idempotencyKey });
  // A word that only looks like a command was for the agent.
  if (status !== "ok") await client.request("agent.wait", { runId: idempotencyKey, timeoutMs: WAIT_MS }, { timeoutMs: WAIT_MS });
  const { messages } = await client.request("chat.history", { sessionKey: ownKey(sessionKey, message.agentId), limit: 1 });
  cli.stdout.line(textOf(messages.at(-1)) || "Done.");
  return 0;
}

function placeOf(values: CliValues) {
  const text = (name: string) => (typeof values[name] === "string" ? values[name] : undefined);
  return { agentId: text("agent"), sessionKey: text("session-key"), model: text("model") };
}

function ownKey(sessionKey: string, agentId: string | undefined): string {
  return agentId === undefined || sessionKey.startsWith("agent:") ? sessionKey : `agent:${agentId}:${sessionKey}`;
}

function textOf(message: { role?: unknown; content?: unknown } | undefined): string {
  if (message?.role !== "assistant") return "";
  if (typeof message.content === "string") return message.content;
  const blocks = Array.isArray(message.content) ? (message.content as Array<{ type?: string; text?: string }>) : [];
  return blocks.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join("\n");
}

function told(cli: CliContext, error: unknown): number {
  cli.stderr.line(cli.color.red(messageOf(error)));
  return 1;
}
