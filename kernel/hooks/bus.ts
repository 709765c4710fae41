import { AsyncParallelHook, AsyncSeriesBailHook, AsyncSeriesHook, SyncHook } from "tapable";
import { messageOf } from "../../sdk/errors.ts";
import type { HookMeta, HookOptions, HookResult } from "../../sdk/hook-taps.ts";
import { type HookEvent, type HookName, type HookSpec, hookSpec } from "../../sdk/hooks.ts";
import type { Disposable, Logger } from "../../sdk/types/common.ts";
import type { TapRecord } from "../../sdk/types/plugin-record.ts";
import { type HookCall, resultOf, stepOf, syncStepOf } from "./steps.ts";
import { createTap, orderTaps, type Tap, type TapFunction, type TapHost, toTapRecord } from "./tap.ts";

export type { TapFunction };

export interface HookBus {
  /** @throws {SvcError} `hook-filter` */
  tap(hook: HookName, tap: { plugin: string; order: number; fn: TapFunction; options?: HookOptions | undefined }): Disposable;
  run<N extends HookName>(hook: N, event: HookEvent<N>, meta?: Partial<HookMeta>): Promise<HookResult<N>>;
  isUsed(hook: HookName): boolean;
  /** Plugins with taps on a hook, in calling order. */
  owners(hook: HookName): string[];
  /** Taps of one plugin with the state of their quarantine. */
  records(plugin: string): TapRecord[];
  /** Taps that are not called at present, for `health`. */
  quarantined(): Array<TapRecord & { id: string }>;
}

export interface HookBusOptions {
  monotonic?: () => number;
  /** Limits set by the operator, read at each call so that a change applies at once. */
  timeoutMs?: TapHost["timeoutMs"];
  /** Counts a failure against its plugin. */
  onFailure?: (plugin: string) => void;
  /** A tap was quarantined or recovered. */
  onMoved?: () => void;
}

/**
 * Typed hooks over tapable. tapable has no untap, so the bus keeps the list of taps itself and, when one comes or goes, builds a
 * fresh tapable hook and swaps one reference: calls under way finish on the old set (kernel/adr/0003).
 */
export function createHookBus(logger: Logger, options: HookBusOptions = {}): HookBus {
  const taps = new Map<HookName, Tap[]>();
  const compiled = new Map<HookName, (call: HookCall) => unknown>();
  let registrations = 0;
  const warn = ({ hook, plugin }: Tap, message: string) => logger.warn(`hook ${hook}: plugin "${plugin}" ${message}`, { hook, plugin });
  const host: TapHost = {
    monotonic: options.monotonic ?? (() => performance.now()),
    timeoutMs: options.timeoutMs ?? (() => undefined),
    failed(tap, error) {
      warn(tap, `failed: ${messageOf(error)}`);
      options.onFailure?.(tap.plugin);
    },
    slow: (tap, ms) => warn(tap, `took ${ms} ms; nothing else could run meanwhile`),
    moved(tap) {
      warn(tap, tap.quarantine.state === "closed" ? "has recovered and is called again" : "keeps failing and is paused for 5 minutes");
      options.onMoved?.();
    },
  };
  const change = (hook: HookName, list: Tap[]) => {
    taps.set(hook, list);
    if (list.length === 0) compiled.delete(hook);
    else compiled.set(hook, compile(hookSpec(hook), list, host));
  };
  const all = () => [...taps.values()].flat();
  const record = (tap: Tap) => toTapRecord(tap, { epoch: Date.now(), monotonic: host.monotonic() });

  return {
    tap(hook, given) {
      registrations += 1;
      const tap = createTap(hook, { ...given, order: given.order * 1e6 + registrations });
      change(hook, orderTaps([...(taps.get(hook) ?? []), tap]));
      return {
        dispose() {
          const list = taps.get(hook) ?? [];
          const rest = list.filter((t) => t !== tap);
          if (rest.length < list.length) change(hook, rest);
        },
      };
    },
    async run(hook, event, meta = {}) {
      const call: HookCall = { event: event as object, meta, items: [] };
      const run = compiled.get(hook);
      if (run) Object.freeze(event);
      const decision = await run?.(call);
      return resultOf(hookSpec(hook), call, decision) as HookResult<typeof hook>;
    },
    isUsed: (hook) => compiled.has(hook),
    owners: (hook) => (taps.get(hook) ?? []).map((t) => t.plugin),
    records: (plugin) => all().flatMap((tap) => (tap.plugin === plugin ? [record(tap)] : [])),
    quarantined: () => all().flatMap((tap) => (tap.quarantine.state === "closed" ? [] : [{ id: tap.plugin, ...record(tap) }])),
  };
}

/** Gates and claims stop at who decides, `modify` goes one by one, what observes runs side by side. */
function compile(spec: HookSpec, list: Tap[], host: TapHost): (call: HookCall) => unknown {
  if (spec.kind === "sync") {
    const hook = new SyncHook<[HookCall]>(["call"]);
    for (const tap of list) hook.tap(tap.plugin, syncStepOf(tap, host));
    return (call) => hook.call(call);
  }
  const bails = spec.kind === "gate" || spec.kind === "claim";
  const Hook = bails ? AsyncSeriesBailHook : spec.kind === "modify" || spec.reverse ? AsyncSeriesHook : AsyncParallelHook;
  const hook = new Hook<[HookCall], unknown>(["call"]);
  for (const tap of spec.reverse ? [...list].reverse() : list) hook.tapPromise(tap.plugin, stepOf(tap, host) as () => Promise<void>);
  return (call) => hook.promise(call);
}
