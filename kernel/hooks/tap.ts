import { randomUUID } from "node:crypto";
import { messageOf } from "../../sdk/errors.ts";
import type { HookFilter, HookMeta, HookOptions } from "../../sdk/hook-taps.ts";
import { type HookFilterKey, type HookName, type HookSpec, hookSpec } from "../../sdk/hooks.ts";
import { withLimit } from "../../sdk/time.ts";
import type { TapRecord } from "../../sdk/types/plugin-record.ts";
import { kernelErrors } from "../errors.ts";
import { createQuarantine, type Quarantine } from "./quarantine.ts";
import { type RunningCode, running } from "./running.ts";

/** A handler as the bus keeps it; the typed form is checked where plugins register it. */
export type TapFunction = (event: never, meta: HookMeta) => unknown;

/** One tap of one plugin. */
export interface Tap {
  readonly hook: HookName;
  readonly spec: HookSpec;
  readonly plugin: string;
  readonly id: string | undefined;
  readonly fn: TapFunction;
  readonly priority: number;
  /** Load order of the plugin, then order of registration. */
  readonly order: number;
  /** Time-out that the tap's author asked for. */
  readonly timeoutMs: number | undefined;
  readonly fits: FilterCheck | undefined;
  readonly quarantine: Quarantine;
}

/** Clock, limits and ears of a bus. */
export interface TapHost {
  monotonic(): number;
  /** Time-out that the operator set for taps of a plugin; overrides the author's. */
  timeoutMs(plugin: string, hook: HookName): number | undefined;
  failed(tap: Tap, error: unknown): void;
  /** A `sync` tap held everything up for so long. */
  slow(tap: Tap, ms: number): void;
  /** Called when the tap is quarantined or recovers. */
  moved(tap: Tap): void;
}

/** Outcome of one guarded call. `skipped`: the filter did not fit; `resting`: it is quarantined and was not called. */
export type TapOutcome =
  | { kind: "answer"; value: object | null | undefined }
  | { kind: "skipped" }
  | { kind: "failed"; error: unknown }
  | { kind: "resting"; lastError: string };

const skipped: TapOutcome = { kind: "skipped" };

/** Prepares a registration. @throws {SvcError} `hook-filter` */
export function createTap(
  hook: HookName,
  given: { plugin: string; order: number; fn: TapFunction; options?: HookOptions | undefined },
): Tap {
  const { plugin, order, fn, options } = given;
  return {
    hook,
    spec: hookSpec(hook),
    plugin,
    id: options?.id,
    fn,
    priority: options?.priority ?? 0,
    order,
    timeoutMs: options?.timeoutMs,
    fits: compileFilter(hook, plugin, options?.filter),
    quarantine: createQuarantine(),
  };
}

/** Higher priority first, then load order, then order of registration. */
export function orderTaps(taps: readonly Tap[]): Tap[] {
  return [...taps].sort((a, b) => b.priority - a.priority || a.order - b.order);
}

/**
 * Calls a tap under its owner's name: filter, quarantine, time limit, shape of the answer. Never rejects.
 * Work beyond the time limit is not awaited; its signal is aborted at the limit.
 */
export async function callTap(tap: Tap, event: unknown, given: Partial<HookMeta>, host: TapHost): Promise<TapOutcome> {
  if (tap.fits && !tap.fits(event)) return skipped;
  const pass = tap.quarantine.enter(host.monotonic());
  if (pass === undefined) return { kind: "resting", lastError: tap.quarantine.lastError ?? "" };
  try {
    const value = await limited(tap, event, given, limitOf(tap, host));
    const problem = answerProblem(tap.spec, event, value);
    if (problem !== undefined) throw kernelErrors.hookFailed({ hook: tap.hook, plugin: tap.plugin, reason: problem });
    tap.quarantine.succeeded(pass);
    if (pass === "trial") host.moved(tap);
    return { kind: "answer", value: value as object | null | undefined };
  } catch (error) {
    // The emitter gave up; that its code ended with it is no failure.
    if (given.signal?.aborted) tap.quarantine.abandoned(pass, host.monotonic());
    else recordFailure(tap, error, () => tap.quarantine.failed(pass, host.monotonic(), messageOf(error)), host);
    return { kind: "failed", error };
  }
}

/** The same for a `sync` hook: nothing is awaited, nothing can be timed. */
export function callSyncTap(tap: Tap, event: unknown, given: Partial<HookMeta>, host: TapHost): TapOutcome {
  if (tap.fits && !tap.fits(event)) return skipped;
  const pass = tap.quarantine.enter(host.monotonic());
  if (pass === undefined) return { kind: "resting", lastError: tap.quarantine.lastError ?? "" };
  try {
    const value = call(tap, event, given).result;
    const problem = isThenable(value) ? "returned a promise; this hook waits for nothing" : answerProblem(tap.spec, event, value);
    if (isThenable(value)) value.then(undefined, () => undefined);
    if (problem !== undefined) throw kernelErrors.hookFailed({ hook: tap.hook, plugin: tap.plugin, reason: problem });
    tap.quarantine.succeeded(pass);
    if (pass === "trial") host.moved(tap);
    return { kind: "answer", value: value as object | null | undefined };
  } catch (error) {
    recordFailure(tap, error, () => tap.quarantine.failed(pass, host.monotonic(), messageOf(error)), host);
    return { kind: "failed", error };
  }
}

/** Converts a tap to its row in `plugins.list`. */
export function toTapRecord(tap: Tap, now: { epoch: number; monotonic: number }): TapRecord {
  const { state, failures, until, lastError } = tap.quarantine;
  return {
    hook: tap.hook,
    ...(tap.id === undefined ? {} : { tap: tap.id }),
    state,
    failures,
    ...(until === undefined ? {} : { until: Math.round(now.epoch + until - now.monotonic) }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}

function recordFailure(tap: Tap, error: unknown, record: () => void, host: TapHost): void {
  const before = tap.quarantine.state;
  record();
  host.failed(tap, error);
  if (tap.quarantine.state !== before) host.moved(tap);
}

function limitOf(tap: Tap, host: TapHost): number {
  return Math.min(600_000, Math.max(1, host.timeoutMs(tap.plugin, tap.hook) ?? tap.timeoutMs ?? tap.spec.timeoutMs));
}

/** An answer that is there at once needs no timer. */
function limited(tap: Tap, event: unknown, given: Partial<HookMeta>, limitMs: number): unknown {
  const { result, meta } = call(tap, event, given);
  if (!isThenable(result)) return result;
  return withLimit(Promise.resolve(result), limitMs, () => {
    const error = kernelErrors.hookFailed({ hook: tap.hook, plugin: tap.plugin, reason: `did not finish within ${limitMs} ms` });
    meta.abort(error);
    throw error;
  });
}

function call(tap: Tap, event: unknown, given: Partial<HookMeta>): { result: unknown; meta: TapMeta } {
  const cause = running.getStore();
  const scope: RunningCode = { plugin: tap.plugin, what: tap.hook, ...(cause?.trace === undefined ? {} : { trace: cause.trace }) };
  const meta = new TapMeta(given, scope);
  return { result: running.run(scope, () => tap.fn(event as never, meta)), meta };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Signal and trace are made when somebody asks for them: most taps never do, and joining signals costs more than all of their work. */
class TapMeta implements HookMeta {
  readonly runId?: string;
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly report: (item: unknown) => void;
  readonly #given: Partial<HookMeta>;
  readonly #scope: RunningCode;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #reason: unknown;

  constructor(given: Partial<HookMeta>, scope: RunningCode) {
    this.#given = given;
    this.#scope = scope;
    if (given.runId !== undefined) this.runId = given.runId;
    if (given.sessionKey !== undefined) this.sessionKey = given.sessionKey;
    if (given.agentId !== undefined) this.agentId = given.agentId;
    this.report = given.report ?? (() => undefined);
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    this.#controller = new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    const own = this.#controller.signal;
    this.#signal = this.#given.signal ? AbortSignal.any([this.#given.signal, own]) : own;
    return this.#signal;
  }

  get trace(): string {
    this.#scope.trace ??= this.#given.trace ?? this.#given.runId ?? randomUUID();
    return this.#scope.trace;
  }

  abort(reason: unknown): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/**
 * Describes the problem with a tap's answer: its type for the kind of hook, the shape of a changed event, and the hook's own rule.
 * @returns undefined for a sound answer; `undefined` and `null` always are
 */
function answerProblem(spec: HookSpec, event: unknown, answer: unknown): string | undefined {
  if (answer === undefined || answer === null || spec.kind === "observe" || spec.kind === "collect") return undefined;
  if (typeof answer !== "object" || Array.isArray(answer)) return `returned ${nameOf(answer)}; expected an object or nothing`;
  const given = answer as Record<string, unknown>;
  if (spec.kind === "gate")
    return given.block === undefined || typeof given.block === "boolean" ? undefined : "`block` must be true or false";
  if (spec.kind === "claim") {
    if (given.handled !== true)
      return given.handled === undefined || given.handled === false ? undefined : "`handled` must be true or false";
    return spec.check?.(given);
  }
  return changedShape(event as Record<string, unknown>, given) ?? spec.check?.(given);
}

/** A changed event keeps the type of each field it had. */
function changedShape(before: Record<string, unknown>, after: Record<string, unknown>): string | undefined {
  const key = Object.keys(before).find((k) => before[k] !== undefined && nameOf(before[k]) !== nameOf(after[k]));
  return key === undefined ? undefined : `returned an event whose ${key} is ${nameOf(after[key])}; expected ${nameOf(before[key])}`;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value)
    ? "a list"
    : value === undefined
      ? "missing"
      : `${/^[aeiou]/.test(typeof value) ? "an" : "a"} ${typeof value}`;
}

const fields: Record<HookFilterKey, string> = {
  channel: "channel",
  agentId: "agentId",
  sessionKeyPrefix: "sessionKey",
  tool: "tool",
  trigger: "trigger",
};

/** Decides whether a tap is called for an event. */
type FilterCheck = (event: unknown) => boolean;

/**
 * Prepares a filter for its hook.
 * @returns undefined when there is nothing to check
 * @throws {SvcError} `hook-filter` for a key that events of this hook never carry: such a tap would never be called
 */
function compileFilter(hook: HookName, plugin: string, filter: HookFilter | undefined): FilterCheck | undefined {
  const given = Object.entries(filter ?? {}).filter(([, wanted]) => wanted !== undefined);
  if (given.length === 0) return undefined;
  const { filters } = hookSpec(hook);
  const checks = given.map(([name, wanted]) => {
    const key = name as HookFilterKey;
    if (!filters.includes(key)) {
      throw kernelErrors.hookFilter({ hook, plugin, key, expected: filters.length > 0 ? filters.join(", ") : "no filter" });
    }
    const values = typeof wanted === "string" ? [wanted] : [...(wanted as readonly string[])];
    const field = fields[key];
    const fits =
      key === "sessionKeyPrefix" ? (value: string) => values.some((v) => value.startsWith(v)) : (v: string) => values.includes(v);
    return (event: Record<string, unknown>) => typeof event[field] === "string" && fits(event[field]);
  });
  return (event) => checks.every((check) => check(event as Record<string, unknown>));
}
