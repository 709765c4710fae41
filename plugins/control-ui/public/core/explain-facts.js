import { texts } from "../texts/explain.js";
import { count, decimal, plural } from "./format.js";
import { costWords } from "./usage-facts.js";

/**
 * How a run came to its answer, in words. Pure.
 *
 * @typedef {{ input: number, output: number, cacheRead?: number, cacheWrite?: number, total: number, cost?: number }} Usage
 * @typedef {{ turn: number, provider: string, model: string, at: number, ms: number, messages: number, isWithoutTools?: boolean, isLast?: boolean,
 *   finish?: string, toolCalls?: number, usage?: Usage, fault?: string, error?: string }} Attempt
 * @typedef {{ id: string, name: string, turn?: number, at?: number, ms?: number, waitedMs?: number, arguments?: unknown, result?: string, isError?: boolean }} ToolUse
 * @typedef {{ role: "user" | "assistant" | "tool", text: string, reasoning?: string, calls?: Array<{ name: string, arguments?: unknown }>, name?: string,
 *   isError?: boolean, media?: number, isCut?: boolean }} PromptMessage
 * @typedef {{ turn: number, model: string, system: string, systemChars: number, tools: Array<{ name: string, description: string, inputSchema: unknown }>,
 *   thinking?: string, messages: PromptMessage[], messageCount: number, isExact: boolean, notes: string[] }} Prompt
 * @typedef {{ path: string, startLine?: number, endLine?: number, score?: number, tool: string }} Source
 * @typedef {{ runId: string, agentId: string, sessionKey: string, trigger: string, startedAt: number, endedAt: number, durationMs: number, status: "ok" | "error",
 *   code?: string, error?: string, stopReason: string, model?: string, usage: Usage, joined?: string[], asked: string, answer: string, attempts: Attempt[],
 *   asides: Array<{ what: string, usage: Usage }>, remarks: string[], tools: ToolUse[], sources: Source[], prompt?: Prompt, notes: string[] }} Explained
 * @typedef {{ runId: string, original: { model?: string, answer: string, calls: unknown[], usage: Usage, durationMs: number },
 *   replay: { model: string, answer: string, turns: unknown[], calls: unknown[], usage: Usage, durationMs: number,
 *     stopped?: { reason: "tool" | "fault" | "turns" | "timeout", tool?: string, arguments?: unknown, error?: string } },
 *   isSame: boolean, isExact: boolean, notes: string[] }} Replayed
 */

/** "840 ms", "2.4 s", "3 min 5 s". @param {number} ms */
export function tookWords(ms) {
  if (ms < 1_000) return texts.ms(Math.round(ms));
  if (ms < 60_000) return texts.seconds(decimal(ms / 1_000, 1));
  const seconds = Math.round(ms / 1_000);
  return seconds % 60 === 0
    ? texts.minutes(seconds / 60)
    : texts.minutesSeconds({ minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

/** Sums a run up in a sentence. @param {Explained} run */
export function sentenceOf({ status, model, durationMs, attempts, tools, usage }) {
  const who = model ?? texts.noModel;
  const asked = attempts.filter(({ messages }) => messages > 0).length;
  const calls = tools.length === 0 ? "" : `, ${plural(tools.length, texts.toolCalls)}`;
  return texts.summary({
    who,
    did: status === "ok" ? texts.answered : texts.askedFailed,
    time: tookWords(durationMs),
    requests: plural(asked, texts.requests),
    calls,
    total: plural(usage.total, texts.tokens),
    cost: usage.cost === undefined ? texts.unknownCost : costWords(usage.cost),
  });
}

/** Cause of the run; undefined for a message of a person. @param {string} trigger */
export function triggerWords(trigger) {
  return /** @type {Record<string, string>} */ ({ hook: texts.webhook, heartbeat: texts.heartbeat, cron: texts.job })[trigger];
}

/**
 * Requests in order, each with the time that passed without one before it.
 * @param {readonly Attempt[]} attempts @param {readonly ToolUse[]} tools
 * @returns {Array<Attempt & { waitedMs: number, outcome: string }>}
 */
export function withWaits(attempts, tools) {
  let free = 0;
  return attempts.map((attempt) => {
    const busy = tools.reduce((until, { at = 0, ms = 0 }) => (at < attempt.at ? Math.max(until, at + ms) : until), free);
    const waitedMs = free === 0 ? 0 : Math.max(0, attempt.at - busy);
    free = attempt.at + attempt.ms;
    return { ...attempt, waitedMs, outcome: outcomeOf(attempt) };
  });
}

/** @param {Attempt} attempt */
function outcomeOf({ messages, finish, fault, error, toolCalls = 0 }) {
  if (fault === "aborted") return texts.stopped;
  const why = error ?? fault;
  if (messages === 0) return texts.notAsked(why ? `: ${why}` : "");
  if (why !== undefined) return texts.failed({ fault: fault ?? "error", more: error ? `: ${error}` : "" });
  return toolCalls > 0
    ? texts.wanted(plural(toolCalls, texts.toolCalls))
    : finish === undefined || finish === "stop"
      ? texts.answered
      : texts.ended(finish);
}

/** Turns whose prompt can be shown. @param {readonly Attempt[]} attempts */
export function turnsAsked(attempts) {
  return [...new Set(attempts.filter(({ messages }) => messages > 0).map(({ turn }) => turn))].sort((a, b) => a - b);
}

const roles = { user: texts.user, assistant: texts.assistant, tool: texts.tool };

/** Heading of a message of the prompt. @param {PromptMessage} message */
export function messageTitle({ role, name, text, calls = [], media = 0, isError, isCut }) {
  const facts = [
    name,
    calls.length > 0 && plural(calls.length, texts.calls),
    media > 0 && plural(media, texts.pictureFiles),
    isError && "error",
    isCut && texts.notStoredFull,
    texts.characters(count(text.length)),
  ];
  return { role: roles[role], facts: facts.filter((fact) => typeof fact === "string") };
}

/** Place of a source, for a chip. @param {Source} source */
export function placeOf({ path, startLine, endLine }) {
  return { path, from: startLine, to: endLine };
}

/** Rows of the tokens: word, figure; what is zero everywhere is left out. @param {Usage} usage @returns {Array<[string, string]>} */
export function usageRows({ input, output, cacheRead = 0, cacheWrite = 0, total, cost }) {
  const rows = /** @type {Array<[string, number]>} */ ([
    [texts.inLabel, input],
    [texts.cache, cacheRead],
    [texts.intoCache, cacheWrite],
    [texts.out, output],
    [texts.all, total],
  ]);
  return [
    ...rows
      .filter(([word, n]) => n > 0 || word === texts.inLabel || word === texts.out)
      .map(([word, n]) => /** @type {[string, string]} */ ([word, count(n)])),
    [texts.cost, costWords(cost)],
  ];
}

/**
 * Both runs side by side, and what the second one differs by.
 * @param {Replayed} result @returns {Array<{ word: string, before: string, after: string, difference: string }>}
 */
export function comparison({ original, replay }) {
  const row = (/** @type {string} */ word, /** @type {number} */ a, /** @type {number} */ b, show = count) => ({
    word,
    before: show(a),
    after: show(b),
    difference: differenceWords(a, b, show),
  });
  const [before, after] = [original.usage, replay.usage];
  const hasCost = before.cost !== undefined && after.cost !== undefined;
  return [
    row(texts.tokensIn, before.input + cached(before), after.input + cached(after)),
    row(texts.tokensOut, before.output, after.output),
    row(texts.allTokens, before.total, after.total),
    hasCost
      ? row(texts.cost, before.cost ?? 0, after.cost ?? 0, costWords)
      : { word: texts.cost, before: costWords(before.cost), after: costWords(after.cost), difference: texts.notKnown },
    row(texts.time, original.durationMs, replay.durationMs, tookWords),
    row(texts.toolCallsLabel, original.calls.length, replay.calls.length),
  ];
}

/** @param {Usage} usage */
function cached({ cacheRead = 0, cacheWrite = 0 }) {
  return cacheRead + cacheWrite;
}

/** @param {number} before @param {number} after @param {(value: number) => string} show */
function differenceWords(before, after, show) {
  const by = after - before;
  if (by === 0) return texts.same;
  const share = before > 0 ? ` (${by > 0 ? "+" : "−"}${Math.abs(Math.round((by / before) * 100))} %)` : "";
  return `${by > 0 ? "+" : "−"}${show(Math.abs(by))}${share}`;
}

/** Reason why a replay has no answer; undefined when it has one. @param {Replayed["replay"]["stopped"]} stopped */
export function stoppedWords(stopped) {
  if (!stopped) return undefined;
  const { reason, tool = texts.someTool, error } = stopped;
  if (reason === "tool") return texts.wantedCallOther(tool);
  if (reason === "turns") return texts.calledToolsUntil;
  if (reason === "timeout") return texts.timeLimitReplay;
  return texts.modelFailed(error ? `: ${error}` : ".");
}
