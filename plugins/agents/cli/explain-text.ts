import { printableLine, type ResultOf } from "svc/sdk";
import { formatDollars } from "../models/cost.ts";

type Explained = ResultOf<"sessions.explain">;
type Usage = Explained["usage"];

/** Longest line for arguments, a result or a message where nobody asked for all of it. */
const LINE_CHARS = 160;

/** A run as people read it; with `isFull` the whole prompt. Pure. */
export function explainText(run: Explained, { isFull, localTime }: { isFull: boolean; localTime: (ms: number) => string }): string[] {
  const end = run.status === "ok" ? "answered" : `failed${run.code === undefined ? "" : ` (${run.code})`}`;
  return [
    `Run ${printableLine(run.runId)} of ${printableLine(run.sessionKey)}, ${localTime(run.startedAt)}: ${end} in ${seconds(run.durationMs)}`,
    `Model ${run.model === undefined ? "none" : printableLine(run.model)}, ${usageText(run.usage)}`,
    ...(run.error === undefined ? [] : [`Error ${printableLine(run.error)}`]),
    ...section("Asked", textLines(run.asked)),
    ...section("Answered", textLines(run.answer)),
    ...section("Requests to models", [...run.attempts.map(attemptLine), ...run.asides.map(asideLine)]),
    ...section(
      "Plugins about the prompt",
      run.remarks.map((remark) => printableLine(remark)),
    ),
    ...section("Tools", run.tools.flatMap(toolLines)),
    ...section("Sources", run.sources.map(sourceLine)),
    ...(run.prompt
      ? section(`Prompt of turn ${run.prompt.turn}, as ${printableLine(run.prompt.model)} got it`, promptLines(run.prompt, isFull))
      : []),
    ...section(
      "Not stored",
      run.notes.map((note) => printableLine(note)),
    ),
  ];
}

/** Tokens and cost of a run. */
export function usageText({ input, output, cacheRead, cacheWrite, cost }: Usage): string {
  if (input + output + cacheRead + cacheWrite === 0) return "no tokens counted";
  const cached = cacheRead > 0 ? ` (${cacheRead} from the cache)` : "";
  return `${input + cacheRead + cacheWrite} tokens in${cached}, ${output} out, ${cost === undefined ? "no price known" : formatDollars(cost)}`;
}

export function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** A call in one line. */
export function callText(name: string, args: unknown): string {
  return cut(`${name} ${typeof args === "string" ? args : (JSON.stringify(args) ?? "")}`);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

export function textLines(text: string): string[] {
  return text === "" ? ["(nothing)"] : text.split("\n").map((line) => printableLine(line));
}

function attemptLine({
  turn,
  provider,
  model,
  ms,
  messages,
  finish,
  toolCalls = 0,
  usage,
  fault,
  error,
  isWithoutTools,
}: Explained["attempts"][number]): string {
  const calls = toolCalls === 0 ? "" : `, ${toolCalls} ${toolCalls === 1 ? "call" : "calls"} of tools`;
  const used = usage ? `, ${usageText(usage)}` : "";
  const reason = error === undefined ? "" : `: ${cut(error)}`;
  const outcome =
    fault === undefined ? `${finish?.replaceAll("_", " ") ?? "no end"}${calls}${used}` : `${fault.replaceAll("_", " ")}${reason}`;
  const sent =
    messages === 0 ? "not asked" : `${messages} ${messages === 1 ? "message" : "messages"}${isWithoutTools ? " without tools" : ""}`;
  return `${turn}. ${printableLine(`${provider}/${model}`)}  ${sent}, ${seconds(ms)}, ${outcome}`;
}

const asides = {
  summary: "summary of older messages",
  notes: "notes before a summary",
  question: "question of a tool or plugin",
} as const satisfies Record<Explained["asides"][number]["what"], string>;

function asideLine({ what, usage }: Explained["asides"][number]): string {
  return `-  ${asides[what]}, ${usageText(usage)}`;
}

function toolLines({ turn, name, arguments: args, ms, waitedMs, isError, result }: Explained["tools"][number]): string[] {
  const waited = waitedMs === undefined || waitedMs < 100 ? "" : `, ${seconds(waitedMs)} of them waiting`;
  const took = ms === undefined ? "" : `  ${seconds(ms)}${waited}`;
  const outcome = `${isError ? "failed: " : "→ "}${result === undefined ? "(its result is no longer stored)" : cut(result)}`;
  return [`${turn === undefined ? "" : `${turn}. `}${callText(name, args)}${took}`, `   ${outcome}`];
}

function sourceLine({ path, startLine, endLine, score, tool }: Explained["sources"][number]): string {
  const end = endLine === undefined || endLine === startLine ? "" : `-L${endLine}`;
  const lines = startLine === undefined ? "" : `#L${startLine}${end}`;
  const points = score === undefined ? "" : `  ${score < 0.01 ? "< 0.01" : score.toFixed(2)}`;
  return `${printableLine(path)}${lines}${points}  ${printableLine(tool)}`;
}

function promptLines(prompt: NonNullable<Explained["prompt"]>, isFull: boolean): string[] {
  const { system, systemChars, tools, messages, messageCount, isExact, notes } = prompt;
  const names = tools.map(({ name }) => name).join(", ");
  const settings = [
    ...(prompt.thinking === undefined ? [] : [`thinking ${prompt.thinking}`]),
    ...(prompt.toolChoice === undefined ? [] : [`tool choice ${JSON.stringify(prompt.toolChoice)}`]),
    ...(prompt.sampling === undefined ? [] : [`sampling ${JSON.stringify(prompt.sampling)}`]),
  ];
  const head = [
    `system prompt of ${systemChars} characters, ${messageCount} ${messageCount === 1 ? "message" : "messages"}, ${tools.length} tools${names === "" ? "" : `: ${cut(names)}`}`,
    ...(settings.length === 0 ? [] : [printableLine(settings.join(", "))]),
    ...(isExact ? [] : notes.map((note) => `Not as it was sent: ${printableLine(note)}`)),
  ];
  if (!isFull) return [...head, "all of it: --prompt"];
  return [...head, "", "[system]", ...textLines(system), ...messages.flatMap(messageLines)];
}

function messageLines({
  role,
  text,
  reasoning,
  calls = [],
  name,
  media = 0,
  isCut,
}: NonNullable<Explained["prompt"]>["messages"][number]): string[] {
  return [
    "",
    `[${role}${name === undefined ? "" : ` ${printableLine(name)}`}]`,
    ...(reasoning === undefined ? [] : textLines(reasoning).map((line) => `(thought) ${line}`)),
    ...(text === "" && calls.length > 0 ? [] : textLines(text)),
    ...calls.map((call) => `→ ${callText(call.name, call.arguments)}`),
    ...(media === 0 ? [] : [`(${media} pictures or files)`]),
    ...(isCut ? ["(not stored in full)"] : []),
  ];
}

function cut(text: string): string {
  const line = printableLine(text.replace(/\s+/g, " "));
  return line.length <= LINE_CHARS ? line : `${line.slice(0, LINE_CHARS - 1)}…`;
}
