import { type CliClient, type CliContext, type CliValues, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import { localTime } from "./local-time.ts";

const PAGE = 500;
const MAX_TEXT_CHARS = 1_000_000;

type SessionInfo = ResultOf<"sessions.list">["sessions"][number];
type Message = ResultOf<"chat.history">["messages"][number];

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const keyArgument = [{ name: "key", required: true }] as const;

const list = defineCommand({
  path: ["sessions", "list"],
  summary: "List sessions, newest first",
  options: {
    agent: { kind: "string", description: "Only sessions of this agent", placeholder: "id" },
    search: { kind: "string", description: "Filter: part of the key, label or title", placeholder: "text" },
    limit: { kind: "integer", description: "At most this many (default 100)", min: 1, max: 1000, placeholder: "n" },
    json,
  },
  rpc: true,
  run: (cli, values) =>
    cli.withClient(async (client) => {
      const params = {
        agentId: text(values.agent),
        search: text(values.search),
        limit: number(values.limit),
        includeDerivedTitles: true,
        includeGlobal: true,
      };
      const answer = await client.request("sessions.list", params);
      if (cli.json) cli.stdout.json(answer);
      else if (answer.sessions.length === 0) cli.stdout.line("No sessions yet.");
      else printList(cli, answer);
      return 0;
    }),
});

const show = defineCommand({
  path: ["sessions", "show"],
  summary: "Show the messages of a session",
  positionals: keyArgument,
  options: { limit: { kind: "integer", description: "Newest messages (default 50)", min: 1, max: 1000, placeholder: "n" }, json },
  rpc: true,
  run: (cli, values, [key]) =>
    cli.withClient(async (client) => {
      const params = { sessionKey: required(key), limit: number(values.limit) ?? 50 };
      const answer = await client.request("chat.history", params);
      if (!answer.sessionInfo) throw agentErrors.unknownSession({ key: required(key) });
      if (cli.json) cli.stdout.json(answer);
      else for (const message of answer.messages) printMessage(cli, message);
      return 0;
    }),
});

const reset = defineCommand({
  path: ["sessions", "reset"],
  summary: "Start a new transcript in a session",
  positionals: keyArgument,
  options: { json },
  rpc: true,
  run: (cli, _values, [key]) =>
    cli.withClient(async (client) => {
      const answer = await client.request("sessions.reset", { key: required(key) });
      if (cli.json) cli.stdout.json(answer);
      else cli.stdout.line(`${answer.key}: new transcript.`);
      return 0;
    }),
});

const fork = defineCommand({
  path: ["sessions", "fork"],
  summary: "Make a session of what was said in another before a message",
  details: "The other session stays as it is. svc sessions show --json has the number of each message as __svc.seq.",
  examples: [["Ask the second question of a session differently", "svc sessions fork main --before 3"]],
  positionals: keyArgument,
  options: {
    before: { kind: "integer", description: "The first message that is left out", min: 1, placeholder: "number" },
    label: { kind: "string", description: "Name of the new session", placeholder: "text" },
    json,
  },
  rpc: true,
  run: (cli, values, [key]) =>
    cli.withClient(async (client) => {
      const seq = number(values.before);
      if (seq === undefined) throw commonErrors.usage({ message: "sessions fork: --before is required" });
      const answer = await client.request("sessions.fork", { key: required(key), seq, label: text(values.label) });
      if (cli.json) cli.stdout.json(answer);
      else cli.stdout.line(`${answer.key}: ${answer.copied} messages of ${answer.entry.parentSessionKey}.`);
      return 0;
    }),
});

const remove = defineCommand({
  path: ["sessions", "delete"],
  summary: "Delete a session",
  positionals: keyArgument,
  options: { "keep-transcript": { kind: "flag", description: "Keep the stored messages" }, json },
  rpc: true,
  run: (cli, values, [key]) =>
    cli.withClient(async (client) => {
      const params = { key: required(key), deleteTranscript: values["keep-transcript"] !== true };
      const answer = await client.request("sessions.delete", params);
      if (cli.json) cli.stdout.json(answer);
      else cli.stdout.line(answer.deleted ? `${answer.key}: deleted.` : `${answer.key}: no such session.`);
      return answer.deleted ? 0 : 1;
    }),
});

const exportLines = defineCommand({
  path: ["sessions", "export"],
  summary: "Write a session as JSON lines",
  details: "The first line describes the session, each further line is one message, oldest first.",
  examples: [["Into a file", "svc sessions export main > main.jsonl"]],
  positionals: keyArgument,
  rpc: true,
  run: (cli, _values, [key]) =>
    cli.withClient(async (client) => {
      const { session, messages } = await readAll(client, required(key));
      const { key: sessionKey, agentId, createdAt } = session;
      const header = { type: "session", version: 1, id: session.sessionId, key: sessionKey, agentId, createdAt };
      cli.stdout.line(JSON.stringify(header));
      for (const message of messages) cli.stdout.line(JSON.stringify({ type: "message", ...message }));
      return 0;
    }),
});

const cleanup = defineCommand({
  path: ["sessions", "cleanup"],
  summary: "Delete sessions beyond the limits of session.maintenance",
  details: "Without a flag the mode of session.maintenance decides: enforce deletes, warn and off only count.",
  options: {
    "dry-run": { kind: "flag", description: "Only count" },
    enforce: { kind: "flag", description: "Delete, whatever the mode" },
    json,
  },
  rpc: true,
  run: (cli, values) =>
    cli.withClient(async (client) => {
      if (values["dry-run"] === true && values.enforce === true)
        throw commonErrors.usage({ message: "sessions cleanup: expected one of --dry-run and --enforce" });
      const { config } = await cli.config();
      const isEnforced = values.enforce === true || (values["dry-run"] !== true && modeOf(config) === "enforce");
      const answer = await client.request("sessions.cleanup", { dryRun: !isEnforced });
      if (cli.json) cli.stdout.json(answer);
      else {
        const { expired, surplus, archives, forSpace, usedBytes, maxDiskBytes } = answer;
        const did = answer.mode === "enforce" ? "Deleted" : "Would delete";
        cli.stdout.line(
          `${did} ${expired + surplus} sessions and ${archives} archived transcripts${forSpace > 0 ? `, ${forSpace} more for space` : ""}.`,
        );
        cli.stdout.line(`Transcripts take ${megabytes(usedBytes)} of ${megabytes(maxDiskBytes)} MB.`);
      }
      return 0;
    }),
});

export default [list, show, reset, fork, remove, exportLines, cleanup];

function modeOf(config: unknown): string {
  const maintenance = (config as { session?: { maintenance?: { mode?: string } } } | undefined)?.session?.maintenance;
  return maintenance?.mode ?? "enforce";
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

/** Page by page from the newest; what arrives meanwhile is not part of the copy. */
async function readAll(client: CliClient, sessionKey: string): Promise<{ session: SessionInfo; messages: Message[] }> {
  const pages: Message[][] = [];
  let offset: number | undefined = 0;
  let session: SessionInfo | null = null;
  while (offset !== undefined) {
    const params = { sessionKey, limit: PAGE, offset, maxChars: MAX_TEXT_CHARS };
    const page: ResultOf<"chat.history"> = await client.request("chat.history", params);
    session ??= page.sessionInfo;
    pages.unshift(page.messages);
    offset = page.nextOffset;
  }
  if (!session) throw agentErrors.unknownSession({ key: sessionKey });
  return { session, messages: pages.flat() };
}

function printList(cli: CliContext, { sessions, totalCount }: ResultOf<"sessions.list">): void {
  const rows = sessions.map(({ key, status, updatedAt, totalTokens, label, derivedTitle }) => [
    key,
    status ?? "-",
    localTime(updatedAt),
    String(totalTokens ?? 0).padStart(8),
    label ?? derivedTitle ?? "",
  ]);
  cli.stdout.table(["KEY", "STATE", "UPDATED", "TOKENS".padStart(8), "TITLE"], rows);
  if (sessions.length < totalCount) cli.stdout.line(cli.color.dim(`${sessions.length} of ${totalCount}`));
}

function printMessage(cli: CliContext, message: Message): void {
  const who = message.role === "toolResult" ? `tool ${printableLine(message.toolName ?? "")}` : message.role;
  const { runId } = message.__svc;
  const run = message.role === "assistant" && runId !== undefined ? `  run ${printableLine(runId)}` : "";
  cli.stdout.line(cli.color.dim(`${localTime(message.timestamp)}  ${who}${run}`));
  const blocks = typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
  for (const block of blocks) {
    if (block.type === "text") cli.stdout.line(block.text);
    else cli.stdout.line(cli.color.dim(`[${[block.type, ...nameOf(block)].join(" ")}]`));
  }
  cli.stdout.line();
}

function nameOf(block: Exclude<Message["content"], string>[number]): string[] {
  const name = "name" in block ? block.name : "fileName" in block ? block.fileName : undefined;
  return name === undefined ? [] : [printableLine(name)];
}

function required(key: string | undefined): string {
  if (!key) throw commonErrors.usage({ message: "sessions: a session key is required" });
  return key;
}

function number(value: CliValues[string]): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function text(value: CliValues[string]): string | undefined {
  return typeof value === "string" ? value : undefined;
}
