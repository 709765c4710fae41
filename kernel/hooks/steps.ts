import { messageOf } from "../../sdk/errors.ts";
import type { HookMeta } from "../../sdk/hook-taps.ts";
import type { HookSpec } from "../../sdk/hooks.ts";
import { callSyncTap, callTap, type Tap, type TapHost, type TapOutcome } from "./tap.ts";

/** One call of a hook on its way through the taps. */
export interface HookCall {
  event: object;
  readonly meta: Partial<HookMeta>;
  /** Items that a `collect` was given. */
  readonly items: unknown[];
}

/** A `sync` tap that takes longer is named in the log. */
const SLOW_SYNC_MS = 50;

/**
 * Builds the step that runs one tap for a call, by the kind of its hook, including the failure policy of each kind.
 * The step of a gate or claim resolves to something when it decides; that of the others changes the call. It never rejects.
 */
export function stepOf(tap: Tap, host: TapHost): (call: HookCall) => Promise<unknown> {
  if (tap.spec.kind === "gate") return async (call) => gateStep(tap, call, await callTap(tap, call.event, call.meta, host));
  if (tap.spec.kind === "claim") return async (call) => claimed(tap, await callTap(tap, call.event, call.meta, host));
  if (tap.spec.kind === "modify") return async (call) => takeValue(call, await callTap(tap, frozen(call.event), call.meta, host));
  if (tap.spec.kind === "collect") return (call) => collectStep(tap, call, host);
  return async (call) => void (await callTap(tap, call.event, call.meta, host));
}

/** The step of a tap of a `sync` hook. */
export function syncStepOf(tap: Tap, host: TapHost): (call: HookCall) => void {
  return (call) => {
    const started = host.monotonic();
    takeValue(call, callSyncTap(tap, frozen(call.event), call.meta, host));
    const ms = Math.round(host.monotonic() - started);
    if (ms > SLOW_SYNC_MS) host.slow(tap, ms);
  };
}

/** Result for the emitter. `decision`: what the step that decided resolved to. */
export function resultOf(spec: HookSpec, call: HookCall, decision: unknown): unknown {
  if (spec.kind === "gate") return decision ?? openGate(spec, call.event);
  if (spec.kind === "claim") return decision;
  if (spec.kind === "modify" || spec.kind === "sync") return call.event;
  return spec.kind === "collect" ? call.items : undefined;
}

function openGate({ revises }: HookSpec, event: object): unknown {
  return { block: false, ...Object.fromEntries(revises.map((key) => [key, (event as Record<string, unknown>)[key]])) };
}

/** A gate that cannot answer refuses, also while it rests. */
function gateStep(tap: Tap, call: HookCall, outcome: TapOutcome): unknown {
  const { plugin, spec } = tap;
  if (outcome.kind === "failed") return { block: true, reason: `a check of plugin "${plugin}" failed`, plugin };
  if (outcome.kind === "resting") {
    // The error itself is for the operator (plugins.list), not for the caller that is refused.
    const reason = `a check of plugin "${plugin}" has failed too often and refuses until it recovers or the plugin is disabled`;
    return { block: true, reason, plugin };
  }
  const answer = (outcome.kind === "answer" ? outcome.value : undefined) as Record<string, unknown> | null | undefined;
  if (answer?.block === true) return { block: true, reason: typeof answer.reason === "string" ? answer.reason : "refused", plugin };
  const revised = spec.revises.filter((key) => answer && answer[key] !== undefined);
  if (revised.length > 0) call.event = Object.freeze({ ...call.event, ...Object.fromEntries(revised.map((key) => [key, answer?.[key]])) });
  return undefined;
}

function claimed({ plugin }: Tap, outcome: TapOutcome): unknown {
  const answer = outcome.kind === "answer" ? (outcome.value as { handled?: boolean } | null | undefined) : undefined;
  return answer?.handled === true ? { ...answer, plugin } : undefined;
}

function takeValue(call: HookCall, outcome: TapOutcome): void {
  if (outcome.kind === "answer" && outcome.value) call.event = outcome.value;
}

async function collectStep(tap: Tap, call: HookCall, host: TapHost): Promise<void> {
  // Items reported after the time limit are dropped.
  let open = true;
  const report = (item: unknown) => void (open && call.items.push(item));
  const outcome = await callTap(tap, call.event, { ...call.meta, report }, host);
  open = false;
  if (outcome.kind === "answer" || outcome.kind === "skipped") return;
  const message =
    outcome.kind === "failed" ? messageOf(outcome.error) : `failed too often and is paused; its last error: ${outcome.lastError}`;
  const item = tap.spec.failure?.(tap.plugin, message);
  if (item !== undefined) call.items.push(item);
}

/** Taps get values they cannot change behind the emitter's back. */
function frozen(event: object): object {
  for (const value of Object.values(event)) if (Array.isArray(value)) Object.freeze(value);
  return Object.freeze(event);
}
