import type { MessageRow, RunRequest, ToolRefusal, ToolResult } from "svc/sdk";
import { createProgress, reached } from "svc/sdk/internal";
import type { Kit } from "../kit.ts";
import type { ToolCallMade } from "../models/turn.ts";
import { present } from "../sessions/find.ts";
import { tellRefused } from "../tools/refusals.ts";
import { toolFailure } from "../tools/toolbox.ts";
import { blankRow } from "./blank-row.ts";
import type { CallWatch } from "./call-watch.ts";
import { ResultClamp } from "./clamp.ts";
import { steeringWaits } from "./join.ts";
import type { Run } from "./run.ts";
import { NO_RESULT } from "./transcript.ts";
import { commitRun, type NewMessage } from "./writes.ts";

/** Calls that run together. */
const MAX_TOGETHER = 8;
/** Longest text of a result that is looked at before it is cut to the budget. */
const MAX_CHARS = 4 * 1024 * 1024;
const SKIPPED = "Skipped due to queued user message.";

interface Turn {
  /** The answer with the calls. */
  message: NewMessage;
  calls: readonly ToolCallMade[];
  /** Tokens that the messages of a request may take. */
  room: number;
  watch: CallWatch;
}

/**
 * Stores the calls, runs them, stores their results, in the order of the calls. Neighbouring calls of tools that only read run together, others alone; the result
 * of a call is stored before the next one begins. A message that joins the turn meanwhile is read before what has not begun.
 */
export async function toolTurn(
  run: Run,
  kit: Kit,
  { message, calls, room, watch }: Turn,
): Promise<{ stored: MessageRow | undefined; results: MessageRow[] }> {
  await reached("agents.before-calls");
  const [stored] = await commitRun(run, kit, { messages: [message] });
  await reached("agents.after-calls");
  const session = await present(kit, run.sessionKey);
  if (stored && session) kit.events.message(session, stored);
  for (const { name } of calls) await kit.tools.ready(name);
  const clamp = new ResultClamp(room);
  const results: MessageRow[] = [];
  for (const group of groupsOf(calls, (name) => kit.tools.traits(run.agent, name)?.readOnly === true)) {
    // A stop begins nothing any more: a tool that does not look at its signal would have its effect all the same.
    run.signal.throwIfAborted();
    const isSkipped = results.length > 0 && steeringWaits(run, kit);
    const made = await runTogether(run, kit, group, isSkipped);
    const rows = group.map((call, i) => {
      const hasOffset = kit.tools.traits(run.agent, call.name)?.hasOffset === true;
      const cut = clamp.clamp(made[i] as ToolResult, { name: call.name, args: call.args, hasOffset });
      return rowOf(run, kit, call, watch.seen(call, cut));
    });
    // A call that fails because its run is stopped may have had its effect: its result says so, as after a kill.
    const isStopped = run.signal.aborted;
    const kept = await commitRun(run, kit, { messages: isStopped ? rows.map((row) => (row.isError ? cutOff(row) : row)) : rows });
    run.signal.throwIfAborted();
    await reached("agents.after-results");
    results.push(...kept);
  }
  return { stored, results };
}

/** Neighbouring calls of tools that only read, up to eight, and each other call by itself. Pure. */
export function groupsOf(calls: readonly ToolCallMade[], isReadOnly: (name: string) => boolean): ToolCallMade[][] {
  const groups: ToolCallMade[][] = [];
  let open: ToolCallMade[] | undefined;
  for (const call of calls) {
    const joins = call.broken === undefined && isReadOnly(call.name);
    if (joins && open && open.length < MAX_TOGETHER) open.push(call);
    else groups.push([call]);
    open = joins ? groups.at(-1) : undefined;
  }
  return groups;
}

/** Checks and approvals are asked for in order, one at a time; only what follows runs side by side. */
async function runTogether(run: Run, kit: Kit, calls: readonly ToolCallMade[], isSkipped: boolean): Promise<ToolResult[]> {
  const begun: Array<() => Promise<ToolResult>> = [];
  for (const call of calls) begun.push(await begin(run, kit, call, isSkipped));
  return Promise.all(begun.map((go) => go()));
}

/** Announces a call and checks it. @returns what runs the tool; never rejects */
async function begin(run: Run, kit: Kit, call: ToolCallMade, isSkipped: boolean): Promise<() => Promise<ToolResult>> {
  const { clock } = kit.ctx;
  const [startedAt, from] = [clock.now(), clock.monotonic()];
  kit.events.toolStart(run, call, await present(kit, run.sessionKey));
  const progress = createProgress(kit.ctx.timers, (text) => kit.events.toolUpdate(run, call, text));
  const prepared = isSkipped ? Promise.reject(new Error(SKIPPED)) : prepare(run, kit, call, progress.update);
  const ready = await prepared.then(
    (go) => ({ go }),
    (error: unknown) => ({ failed: isSkipped ? skipped : toolFailure(error) }),
  );
  const readyAt = clock.monotonic();
  return async () => {
    const result = "failed" in ready ? ready.failed : await carriedOut(ready.go, run.signal);
    progress.dispose();
    const took = { at: startedAt, ms: clock.monotonic() - from, waitedMs: readyAt - from };
    run.trace.tool(call, { ...took, isError: result.isError === true });
    const session = await present(kit, run.sessionKey);
    if (!run.signal.aborted) kit.events.toolEnd(run, { ...call, startedAt }, { result, session });
    return result;
  };
}

async function carriedOut(go: () => Promise<ToolResult>, signal: AbortSignal): Promise<ToolResult> {
  await reached("agents.before-tool");
  if (signal.aborted) return toolFailure(signal.reason);
  const result = await go().catch((error: unknown) => toolFailure(error));
  await reached("agents.after-tool");
  return result;
}

const skipped: ToolResult = { content: [{ type: "text", text: SKIPPED }], isError: true };

async function prepare(run: Run, kit: Kit, call: ToolCallMade, onUpdate: (text: string) => void): Promise<() => Promise<ToolResult>> {
  if (run.toolCallsLeft === 0) throw new Error("this run has used all its tool calls; answer with what is known");
  run.toolCallsLeft -= 1;
  if (call.broken) throw new Error(`its arguments are not valid JSON: ${call.broken}`);
  const ids = { agentId: run.agent.id, sessionKey: run.sessionKey, runId: run.id, toolCallId: call.id };
  const { signal, origin, request } = run;
  const { tools, isOwner } = request;
  const { runId, agentId, sessionKey } = ids;
  const onRefused = (reason: ToolRefusal) => {
    run.refusedCalls += 1;
    tellRefused(kit.ctx, { runId, agentId, sessionKey, tool: call.name, origin, reason }, run.refusedCalls);
  };
  const target = { ...ids, signal, origin, isOwner, tools, onUpdate, onRefused, maxChars: MAX_CHARS, ...placed(run) };
  return kit.tools.prepare(run.agent, { name: call.name, args: call.args }, target);
}

function cutOff(row: NewMessage): NewMessage {
  const { details: _, ...rest } = row;
  return { ...rest, content: [{ type: "text", text: NO_RESULT }] };
}

function placed({ request: { place } }: Run): Pick<RunRequest, "place"> {
  return place ? { place } : {};
}

function rowOf(run: Run, kit: Kit, call: ToolCallMade, result: ToolResult): NewMessage {
  return {
    ...blankRow(run, kit),
    role: "toolResult",
    content: result.content,
    toolCallId: call.id,
    toolName: call.name,
    ...(result.isError ? { isError: true } : {}),
    ...(result.details === undefined ? {} : { details: result.details }),
  };
}
