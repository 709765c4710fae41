import { type MessageRow, oneLine, type SessionRow, sleep, type Usage } from "svc/sdk";
import { cutMiddle } from "../common/cut.ts";
import { digestOf } from "../common/digest.ts";
import type { Kit } from "../kit.ts";
import { withFailover } from "../models/attempts.ts";
import { infoOf } from "../models/catalog.ts";
import type { Candidate } from "../models/choice.ts";
import { withCost } from "../models/cost.ts";
import { noUsage, readTurn } from "../models/turn.ts";
import { textOf } from "../runs/transcript.ts";

const LIMIT_MS = 120_000;
const IDLE_MS = 60_000;
const MAX_SOURCE_CHARS = 120_000;
const MAX_SUMMARY_CHARS = 12_000;
const LINE_CHARS = 200;
const MAX_LINES = 40;

const task =
  "You shorten a conversation so that it can go on. Write what a newcomer needs: facts about people, decisions, open questions and tasks, names, numbers, places of files. No greeting, no comment on the task. Write in the language of the conversation.";

export interface Summary {
  text: string;
  usage: Usage;
}

/** A text that stands for older messages. Without a language model it is a list of what was asked. @throws a model fault */
export async function summarise(
  kit: Kit,
  session: SessionRow,
  { older, before }: { older: readonly MessageRow[]; before: string | undefined },
): Promise<Summary> {
  const agent = kit.directory.get(session.agentId);
  const candidates = (await kit.models.candidates(agent, session.model)).filter((c) => !c.provider.embedded);
  const usable = candidates.filter((c) => c.provider.available().ok);
  if (usable.length === 0) return { text: listOf(older, before), usage: noUsage };
  const source = cutMiddle([before, ...older.map(lineOf)].filter((l) => l).join("\n\n"), MAX_SOURCE_CHARS);
  const signal = AbortSignal.any([kit.ctx.signal, AbortSignal.timeout(LIMIT_MS)]);
  const { value } = await withFailover({
    candidates: usable,
    cooldown: kit.cooldown,
    isCurrent: ({ provider }) => kit.catalog.provider(provider.id) === provider,
    attempt: async (candidate) => {
      const answer = await ask(candidate, { source, session, signal });
      return { ...answer, usage: withCost(answer.usage, infoOf(kit.catalog, candidate)?.cost) };
    },
    isVisible: () => false,
    mayFailover: () => true,
    shrink: () => false,
    onRetry: (candidate, error) =>
      kit.ctx.logger.warn(`a summary by ${candidate.provider.id}/${candidate.model} failed; retrying`, { fault: error.fault }),
    pause: (ms) => sleep(ms, signal),
    random: Math.random,
  });
  const text = cutMiddle(value.text.trim(), MAX_SUMMARY_CHARS);
  if (text === "") throw new Error("the model answered with nothing");
  return { text, usage: value.usage };
}

function ask({ provider, model }: Candidate, given: { source: string; session: SessionRow; signal: AbortSignal }) {
  const { source, session, signal } = given;
  const request = {
    model,
    system: task,
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: source }] }],
    tools: [],
    thinking: "off",
    cacheKey: digestOf(["summary", session.key, session.sessionId]),
    context: { agentId: session.agentId, sessionKey: session.key, runId: `compact-${session.sessionId}` },
  };
  return readTurn((stop) => provider.stream(request, { signal: stop }), { signal, idleMs: IDLE_MS, onText: () => undefined });
}

function lineOf(row: MessageRow): string {
  const text = textOf(row.content);
  return text === "" ? "" : `${row.role === "toolResult" ? `tool ${row.toolName ?? ""}` : row.role}: ${cutMiddle(text, 4_000)}`;
}

function listOf(older: readonly MessageRow[], before: string | undefined): string {
  const asked = older.filter((row) => row.role === "user").map((row) => `- ${oneLine(textOf(row.content), LINE_CHARS)}`);
  const more = asked.length > MAX_LINES ? [`- (${asked.length - MAX_LINES} more)`] : [];
  return cutMiddle([...(before ? [before] : []), "Asked so far:", ...more, ...asked.slice(-MAX_LINES)].join("\n"), MAX_SUMMARY_CHARS);
}
