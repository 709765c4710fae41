import { type Counter, type Histogram, isModelError, type PluginContext } from "svc/sdk";
import type { TurnResult } from "./models/turn.ts";
import type { StoredOutcome } from "./runs/outcome.ts";
import type { Run } from "./runs/run.ts";

/** Figures of runs, model calls and tools, for monitoring. */
export interface AgentFigures {
  runEnded(run: Run, outcome: StoredOutcome): void;
  /** One call of a model; `result` is absent when it failed. */
  modelCalled(by: { provider: string; model: string; ms: number }, result: TurnResult | undefined, error?: unknown): void;
  toolCalled(tool: string, outcome: { ok: boolean; ms: number }): void;
}

/** Models take from a moment to many minutes. */
const SLOW_BUCKETS_MS = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000];

/** @param queue runs that wait for their turn, and those at work */
export function createFigures({ metrics }: Pick<PluginContext, "metrics">, queue: () => { waiting: number; active: number }): AgentFigures {
  const runs = metrics.counter({ name: "runs_total", help: "Runs that ended", labels: ["status", "trigger"] });
  const runMs = metrics.histogram({
    name: "run_duration_ms",
    help: "Time of a run without its wait for a turn",
    labels: ["status"],
    buckets: SLOW_BUCKETS_MS,
  });
  const models = modelFigures(metrics);
  const tools = metrics.counter({ name: "tool_calls_total", help: "Calls of tools", labels: ["tool", "outcome"] });
  const toolMs = metrics.histogram({ name: "tool_duration_ms", help: "Time of a call of a tool", labels: ["tool"] });
  metrics.gauge({ name: "queue_depth", help: "Work that waits", labels: ["queue"] }, (set) => set(queue().waiting, "runs"));
  metrics.gauge({ name: "runs_active", help: "Runs at work" }, (set) => set(queue().active));
  return {
    runEnded(run, { status, stopReason, durationMs }) {
      const end = status === "ok" ? "ok" : stopReason === "error" ? "error" : "aborted";
      runs.add(1, end, run.request.trigger);
      if (durationMs !== undefined) runMs.observe(durationMs, end);
    },
    modelCalled: models,
    toolCalled(tool, { ok, ms }) {
      tools.add(1, tool, ok ? "ok" : "error");
      toolMs.observe(ms, tool);
    },
  };
}

function modelFigures(metrics: PluginContext["metrics"]): AgentFigures["modelCalled"] {
  const by = ["provider", "model"];
  const calls: Counter = metrics.counter({ name: "model_calls_total", help: "Calls of models", labels: [...by, "outcome"] });
  const durations: Histogram = metrics.histogram({
    name: "model_call_duration_ms",
    help: "Time until a model has answered completely",
    labels: by,
    buckets: SLOW_BUCKETS_MS,
  });
  const tokens = metrics.counter({ name: "model_tokens_total", help: "Tokens of model calls", labels: [...by, "kind"], maxSeries: 400 });
  return ({ provider, model, ms }, result, error) => {
    calls.add(1, provider, model, result ? "ok" : isModelError(error) ? error.fault : "error");
    durations.observe(ms, provider, model);
    if (!result) return;
    const { input, output, cacheRead, cacheWrite } = result.usage;
    for (const [kind, count] of Object.entries({ input, output, cacheRead, cacheWrite })) tokens.add(count, provider, model, kind);
  };
}
