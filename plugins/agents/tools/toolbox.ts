import {
  type AgentInfo,
  formatIssues,
  isSvcError,
  type ModelToolSpec,
  messageOf,
  type PluginContext,
  type RunOrigin,
  type RunRequest,
  type Schema,
  type SvcConfig,
  type Tool,
  type ToolRefusal,
  type ToolResult,
  toJsonSchema,
  toSchema,
} from "svc/sdk";
import { whileAlive } from "../common/abort.ts";
import { cutMiddle } from "../common/cut.ts";
import { agentErrors } from "../errors.ts";
import type { AgentFigures } from "../figures.ts";
import { isKeptBack } from "./operator-tools.ts";
import { isLeft, isToolAllowed, policyLevels } from "./policy.ts";
import { acceptedContent, isToolResult } from "./tool-content.ts";

/** Longest text of one tool result that enters a transcript and a prompt. */
export const MAX_RESULT_CHARS = 200_000;
/** Time a tool has to end after its signal. */
const GRACE_MS = 5_000;
const DEFAULT_TIMEOUT_MS = 60_000;

interface Prepared {
  tool: Tool;
  spec: ModelToolSpec;
  schema: Schema;
}

export interface ToolTarget {
  agentId: string;
  sessionKey: string;
  runId: string;
  toolCallId: string;
  signal: AbortSignal;
  /** Gets the tool's lines of progress. */
  onUpdate?: (text: string) => void;
  /** Hears why the tool may not be called. */
  onRefused?: (reason: ToolRefusal) => void;
  /** Default `operator`. */
  origin?: RunOrigin;
  /** As in `RunRequest`. */
  isOwner?: boolean | undefined;
  /** The arguments are checked, and that is all. */
  dryRun?: boolean;
  /** Longest text of the result; default 200,000 UTF-16 units. */
  maxChars?: number;
  /** Tools that the run is narrowed to. */
  tools?: RunRequest["tools"];
  /** Where on a channel the message or call comes from. */
  place?: RunRequest["place"];
}

/** A tool as it was registered, whoever may use it. */
export interface RegisteredTool {
  name: string;
  description: string;
  /** Plugin that brings it. */
  owner: string;
  /** That plugin does not come with svc. */
  isOutside: boolean;
}

/** Facts that a run needs of a tool before it calls it. */
export interface ToolTraits {
  readOnly: boolean;
  /** It has an argument `offset`, from which it reads on. */
  hasOffset: boolean;
}

export interface ToolBox {
  /** Every tool, in load order. */
  all(): RegisteredTool[];
  /** Tools of an agent after policy, in load order; those of the operator are left out unless the run may have them. */
  specs(agent: AgentInfo, run?: { origin: RunOrigin; request: Pick<RunRequest, "tools" | "isOwner"> }): ModelToolSpec[];
  /** Brings a tool that is loaded on first use; without a name all of them. */
  ready(name?: string): Promise<void>;
  has(agent: AgentInfo, name: string): boolean;
  /** Facts about a tool of an agent; undefined for one that it does not have, or that is not loaded yet. */
  traits(agent: AgentInfo, name: string): ToolTraits | undefined;
  /** Policy, validation, hooks; the tool runs when the result is called. @throws as `invoke` */
  prepare(agent: AgentInfo, call: { name: string; args: unknown }, target: ToolTarget): Promise<() => Promise<ToolResult>>;
  /** Policy, hooks, validation, run. @throws {SvcError} `tool-not-found`, `invalid-tool-args`, `tool-blocked`, or what the tool threw */
  invoke(agent: AgentInfo, call: { name: string; args: unknown }, target: ToolTarget): Promise<ToolResult>;
}

/** Reads the contribution point `tool`; schemas are prepared once per tool, sets once per agent until a tool comes or goes or the config changes. */
export function createToolBox(ctx: PluginContext, figures: Pick<AgentFigures, "toolCalled">): ToolBox {
  const view = ctx.contributions<Tool>("tool");
  const prepared = new WeakMap<Tool, Prepared>();
  const unusable = new WeakSet<Tool>();
  const sets = new Map<string, Map<string, Prepared>>();
  let setsOf: SvcConfig | undefined;
  view.watch(() => sets.clear());

  const prepare = (tool: Tool): Prepared => {
    const known = prepared.get(tool);
    if (known) return known;
    const made = {
      tool,
      spec: { name: tool.name, description: tool.description, inputSchema: toJsonSchema(tool.input) },
      schema: toSchema(tool.input),
    };
    prepared.set(tool, made);
    return made;
  };

  /** One tool whose schema became unreadable after it was registered costs its own place, not the run. */
  const usable = (tool: Tool, owner: string): Prepared | undefined => {
    if (unusable.has(tool)) return undefined;
    try {
      return prepare(tool);
    } catch (error) {
      unusable.add(tool);
      ctx.logger.warn(`tool "${tool.name}" of plugin "${owner}" is left out: its input schema cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  };

  const setOf = (agent: AgentInfo): Map<string, Prepared> => {
    const config = ctx.snapshot();
    if (config !== setsOf) sets.clear();
    setsOf = config;
    const known = sets.get(agent.id);
    if (known) return known;
    const levels = policyLevels(config, agent.id);
    const made = new Map<string, Prepared>();
    for (const { value, owner } of view) {
      const entry = isToolAllowed(value.name, levels) ? usable(value, owner) : undefined;
      if (entry) made.set(value.name, entry);
    }
    sets.set(agent.id, made);
    return made;
  };

  return {
    all: () => [...view].map(({ value: { name, description }, owner, isOutside = false }) => ({ name, description, owner, isOutside })),
    ready: (name) => view.ready(name),
    specs: (agent, { origin, request } = { origin: "operator", request: {} }) =>
      [...setOf(agent).values()]
        .map((p) => p.spec)
        .filter(({ name }) => !isKeptBack(name, { origin, isOwner: request.isOwner }) && isLeft(name, request.tools)),
    has: (agent, name) => setOf(agent).has(name),
    traits(agent, name) {
      const entry = setOf(agent).get(name);
      return entry && { readOnly: entry.tool.readOnly === true, hasOffset: hasProperty(entry.spec.inputSchema, "offset") };
    },
    async prepare(agent, { name, args }, target) {
      await view.ready(name);
      const entry = callable(setOf(agent).get(name), { name, isRegistered: view.get(name) !== undefined }, target);
      const value = await validated(entry, args);
      if (target.dryRun) return async () => ({ content: [] });
      const allowed = await gate(ctx, { tool: name, args: value }, target);
      // Arguments that a plugin has changed must fit the tool's schema as well.
      const revised = allowed === value ? value : await validated(entry, allowed);
      return () => tracedTool({ ctx, figures }, { tool: entry.tool, args: revised, target });
    },
    async invoke(agent, call, target) {
      const run = await this.prepare(agent, call, target);
      return run();
    },
  };
}

/** Returns the tool that a run calls. @throws {SvcError} `tool-not-found` for one that it may not call, whatever the reason */
function callable(
  entry: Prepared | undefined,
  { name, isRegistered }: { name: string; isRegistered: boolean },
  target: ToolTarget,
): Prepared {
  const refusal = entry ? keptBack(name, target) : isRegistered ? "policy" : "unknown";
  if (entry && !refusal) return entry;
  target.onRefused?.(refusal ?? "unknown");
  throw agentErrors.toolNotFound({ tool: name });
}

/** Reason why a run may not call a tool of its agent; undefined when it may. */
function keptBack(
  name: string,
  { origin = "operator", isOwner, tools }: Pick<ToolTarget, "origin" | "isOwner" | "tools">,
): ToolRefusal | undefined {
  if (isKeptBack(name, { origin, isOwner })) return "origin";
  return isLeft(name, tools) ? undefined : "narrowed";
}

function hasProperty({ properties }: ModelToolSpec["inputSchema"], name: string): boolean {
  return typeof properties === "object" && properties !== null && Object.hasOwn(properties, name);
}

/** Result that tells a model that a tool failed. The run goes on: the model may mend its call. */
export function toolFailure(error: unknown): ToolResult {
  const text = isSvcError(error) ? error.message : `the tool failed: ${messageOf(error)}`;
  return { content: [{ type: "text", text }], isError: true };
}

/** Any value a tool returned as a `ToolResult`. */
function toToolResult(value: unknown, maxChars: number): ToolResult {
  if (isToolResult(value)) return { ...value, content: acceptedContent(value.content, maxChars) };
  const text = typeof value === "string" ? value : (JSON.stringify(value ?? null) ?? "null");
  return {
    content: [{ type: "text", text: cutMiddle(text, maxChars) }],
    ...(typeof value === "object" && value !== null ? { details: value } : {}),
  };
}

async function validated({ tool, schema }: Prepared, args: unknown): Promise<unknown> {
  const parsed = await schema["~standard"].validate(args ?? {});
  if (parsed.issues) throw agentErrors.invalidToolArgs({ tool: tool.name, issues: formatIssues(parsed.issues) });
  return parsed.value;
}

/** @returns the arguments to call it with */
async function gate(ctx: PluginContext, call: { tool: string; args: unknown }, target: ToolTarget): Promise<unknown> {
  if (!ctx.isHookUsed("tool.before")) return call.args;
  const { agentId, sessionKey, runId, signal, place } = target;
  const verdict = await whileAlive(
    ctx.runHook(
      "tool.before",
      { runId, agentId, sessionKey, ...call, ...(place ? { place } : {}) },
      { signal, runId, sessionKey, agentId },
    ),
    signal,
  );
  if (verdict.block) {
    target.onRefused?.("blocked");
    throw agentErrors.toolBlocked({ tool: call.tool, reason: verdict.reason });
  }
  return verdict.args;
}

/** Runs a tool as a span, and reports what came of it. */
async function tracedTool(
  { ctx, figures }: { ctx: PluginContext; figures: Pick<AgentFigures, "toolCalled"> },
  { tool, args, target }: { tool: Tool; args: unknown; target: ToolTarget },
): Promise<ToolResult> {
  const { name } = tool;
  const started = performance.now();
  const ended = (ok: boolean) => {
    const outcome = { ok, ms: performance.now() - started };
    figures.toolCalled(name, outcome);
    report(ctx, target, { tool: name, ...outcome });
  };
  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name };
  try {
    const result = await ctx.tracing.span(`execute_tool ${name}`, { attributes }, async (span) => {
      const given = await runTool(ctx, { tool, args, target });
      if (given.isError) span.fail("the tool answered with an error");
      return given;
    });
    ended(!result.isError);
    return result;
  } catch (error) {
    ended(false);
    throw error;
  }
}

async function runTool(
  { timers }: Pick<PluginContext, "timers">,
  { tool, args, target }: { tool: Tool; args: unknown; target: ToolTarget },
): Promise<ToolResult> {
  const { agentId, sessionKey, runId, toolCallId, tools, origin = "operator", onUpdate: update = () => undefined } = target;
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = tool;
  const limit = new AbortController();
  const timedOut = agentErrors.toolTimedOut({ tool: tool.name, seconds: timeoutMs / 1_000 });
  const timer = timers.setTimeout(() => limit.abort(timedOut), timeoutMs);
  const signal = AbortSignal.any([target.signal, limit.signal]);
  try {
    const call = { agentId, sessionKey, runId, toolCallId, signal, update, origin, ...(tools ? { tools } : {}) };
    const work = (async () => tool.run(args, call))();
    return toToolResult(await whileAlive(work, signal, GRACE_MS), target.maxChars ?? MAX_RESULT_CHARS);
  } catch (error) {
    // However it puts that it was stopped: the model reads why.
    throw limit.signal.aborted && !target.signal.aborted ? timedOut : error;
  } finally {
    timer.dispose();
  }
}

function report(ctx: PluginContext, target: ToolTarget, outcome: { tool: string; ok: boolean; ms: number }): void {
  const { agentId, sessionKey, runId } = target;
  ctx.logger.debug("tool called", () => ({ tool: outcome.tool, ok: outcome.ok, ms: Math.round(outcome.ms), agentId, runId }));
  if (!ctx.isHookUsed("tool.after")) return;
  ctx
    .runHook("tool.after", { runId, agentId, sessionKey, ...outcome }, { runId, sessionKey, agentId })
    .catch((error) => ctx.logger.warn("hook tool.after failed", { error: messageOf(error) }));
}
