import { type ActiveSpan, agentSetting, messageOf } from "svc/sdk";
import { whileAlive } from "../common/abort.ts";
import type { Kit } from "../kit.ts";
import { present } from "../sessions/find.ts";
import { blankRow } from "./blank-row.ts";
import { RunFailure } from "./failure.ts";
import { fail, succeed } from "./finish.ts";
import { type LoopResult, runLoop } from "./loop.ts";
import type { Run } from "./run.ts";
import { commitRun, runRow } from "./writes.ts";

const DEFAULT_TIMEOUT_S = 600;
/** `timeout: 0` means no limit; a day is where that ends. */
const LONGEST_MS = 86_400_000;
/** Time after its signal at which a run is given up on: it ends without the part that hangs. */
const WATCHDOG_MS = 30_000;

/** One run from its place in the lane to its last event. Never rejects. */
export function executeRun(run: Run, kit: Kit): Promise<void> {
  const attributes = { "svc.run.id": run.id, "svc.agent.id": run.agent.id, "svc.run.trigger": run.request.trigger };
  // Its turn may come by the end of another run, whose trace it does not belong to.
  return kit.ctx.tracing.span("agent run", { kept: run.id, attributes }, (span) => execute(run, kit, span));
}

async function execute(run: Run, kit: Kit, span: ActiveSpan): Promise<void> {
  run.phase = "running";
  run.startedAt = kit.ctx.clock.now();
  kit.ctx.logger.debug("run started", () => ({ runId: run.id, agentId: run.agent.id, waitedMs: (run.startedAt ?? 0) - run.acceptedAt }));
  const timer = kit.ctx.timers.setTimeout(() => run.abort("timeout"), timeoutOf(run, kit));
  // The row says "running" while the model already works. Only the end waits for it; a run that fails before has its own end to store. What a queue
  // will try again after a crash waits: whether it had begun decides who is to blame.
  const begun = begin(run, kit, run.startedAt);
  begun.catch(() => undefined);
  try {
    const result = await whileAlive(answer(run, kit, begun), run.signal, WATCHDOG_MS);
    run.signal.throwIfAborted();
    const isEmpty = !run.texts.some((t) => t.trim() !== "") && result.toolCalls.length === 0;
    if (isEmpty && result.stopReason !== SILENCE && !run.heartbeat) throw emptyAnswer(result);
    await succeed(run, kit, result);
  } catch (error) {
    span.fail(run.aborted ?? messageOf(error));
    await fail(run, kit, error);
  } finally {
    timer.dispose();
  }
}

async function answer(run: Run, kit: Kit, begun: Promise<void>): Promise<LoopResult> {
  if (run.request.resume) await begun;
  await admit(run, kit);
  const result = (await replied(run, kit)) ?? (await runLoop(run, kit));
  await begun;
  return result;
}

async function begin(run: Run, kit: Kit, startedAt: number): Promise<void> {
  kit.events.lifecycle(run, { phase: "start", startedAt });
  await commitRun(run, kit, {
    more: [{ op: "run.put", run: runRow(run, kit, "running"), ifState: ["queued"] }],
    session: { status: "running", startedAt, endedAt: null, lastRunId: run.id },
  });
  const session = await present(kit, run.sessionKey);
  if (session?.sessionId === run.sessionId && run.phase === "running") {
    kit.events.sessionChanged(session, { phase: "start", runId: run.id });
  }
}

function emptyAnswer(result: LoopResult): RunFailure {
  if (result.stopReason === "content_filter")
    return new RunFailure("REFUSAL", "the model's vendor withheld the answer", { kind: "refusal" });
  return new RunFailure("EMPTY_RESPONSE", "the model answered with nothing; try again or choose another model");
}

function timeoutOf(run: Run, kit: Kit): number {
  const asked = run.request.timeoutMs;
  if (asked === 0) return LONGEST_MS;
  return Math.min(asked ?? (agentSetting(kit.config, run.agent.id, "timeoutSeconds") ?? DEFAULT_TIMEOUT_S) * 1_000, LONGEST_MS);
}

/** Stop reason of a run that a plugin ended without a word. */
const SILENCE = "silence";

const idsOf = (run: Run) => ({ runId: run.id, agentId: run.agent.id, sessionKey: run.sessionKey });

/** Lets plugins refuse a run. @throws {RunFailure} `BLOCKED` */
async function admit(run: Run, kit: Kit): Promise<void> {
  run.signal.throwIfAborted();
  if (!kit.ctx.isHookUsed("agent.before")) return;
  const ids = idsOf(run);
  const event = { ...ids, prompt: run.prompt, trigger: run.request.trigger };
  const verdict = await whileAlive(kit.ctx.runHook("agent.before", event, { signal: run.signal, ...ids }), run.signal);
  if (verdict.block) throw new RunFailure("BLOCKED", verdict.reason);
}

/** Lets plugins answer in the place of the model. Undefined: nobody did. */
async function replied(run: Run, kit: Kit): Promise<LoopResult | undefined> {
  if (!kit.ctx.isHookUsed("agent.reply")) return undefined;
  const ids = idsOf(run);
  const event = { ...ids, prompt: run.prompt, trigger: run.request.trigger };
  const claim = await whileAlive(kit.ctx.runHook("agent.reply", event, { signal: run.signal, ...ids }), run.signal);
  if (!claim) return undefined;
  const text = claim.reply ?? "";
  if (text.trim() === "") return { last: undefined, toolCalls: [], stopReason: SILENCE };
  run.beginMessage();
  kit.events.text(run, text);
  kit.events.textEnd(run);
  run.endMessage();
  const last = { ...blankRow(run, kit), role: "assistant" as const, content: [{ type: "text" as const, text }], stopReason: "stop" };
  return { last, toolCalls: [], stopReason: "stop" };
}
