import { AsyncParallelHook, AsyncSeriesBailHook, AsyncSeriesWaterfallHook } from "tapable";
import { messageOf, SvcError } from "../../sdk/errors.ts";
import { type HookEvent, type HookKind, type HookMeta, type HookName, type HookOptions, type HookResult, hooks } from "../../sdk/hooks.ts";
import type { Disposable, Logger } from "../../sdk/types/common.ts";
import { runTap, type Tap } from "./guard.ts";

type Meta = Partial<HookMeta>;
/** A tap as the bus keeps it; the typed form is checked where plugins register it. */
export type TapFunction = Tap["fn"];

type Call = (event: unknown, meta: Meta) => Promise<unknown>;

export interface HookBus {
  tap(hook: HookName, tap: { plugin: string; order: number; fn: TapFunction; options?: HookOptions | undefined }): Disposable;
  run<N extends HookName>(hook: N, event: HookEvent<N>, meta?: Meta): Promise<HookResult<N>>;
  isUsed(hook: HookName): boolean;
  /** Plugins with taps on a hook, in calling order. */
  owners(hook: HookName): string[];
}

/**
 * Typed hooks over tapable. tapable has no untap, so the bus keeps the list of taps itself and, when one comes or goes, builds a
 * fresh tapable hook and swaps one reference: calls under way finish on the old set (kernel/adr/0003).
 */
export function createHookBus(logger: Logger): HookBus {
  const taps = new Map<HookName, Tap[]>();
  const compiled = new Map<HookName, Call>();
  let registrations = 0;

  const rebuild = (hook: HookName) => {
    const list = taps.get(hook) ?? [];
    if (list.length === 0) compiled.delete(hook);
    else compiled.set(hook, compile(hook, list, logger));
  };

  return {
    tap(hook, { plugin, order, fn, options }) {
      const spec = hooks[hook];
      registrations += 1;
      const tap: Tap = {
        plugin,
        fn,
        priority: options?.priority ?? 0,
        timeoutMs: Math.min(600_000, Math.max(1, options?.timeoutMs ?? spec.timeoutMs)),
        order: order * 1e6 + registrations,
      };
      const list = [...(taps.get(hook) ?? []), tap].sort((a, b) => b.priority - a.priority || a.order - b.order);
      taps.set(hook, list);
      rebuild(hook);
      return {
        dispose() {
          taps.set(
            hook,
            (taps.get(hook) ?? []).filter((t) => t !== tap),
          );
          rebuild(hook);
        },
      };
    },
    async run(hook, event, meta = {}) {
      const call = compiled.get(hook);
      return (call ? await call(event, meta) : unused(hooks[hook].kind, event)) as HookResult<typeof hook>;
    },
    isUsed: (hook) => compiled.has(hook),
    owners: (hook) => (taps.get(hook) ?? []).map((t) => t.plugin),
  };
}

/** What an emitter gets when nobody listens. */
function unused(kind: HookKind, event: unknown): unknown {
  if (kind === "gate") return { block: false };
  if (kind === "modify") return event;
  return kind === "collect" ? [] : undefined;
}

function compile(hook: HookName, list: Tap[], logger: Logger): Call {
  const kind = hooks[hook].kind as HookKind;
  const fail = (tap: Tap, error: unknown) =>
    logger.warn(`hook ${hook}: plugin "${tap.plugin}" failed: ${messageOf(error)}`, { hook, plugin: tap.plugin });
  if (kind === "gate") return compileGate(hook, list, fail);
  if (kind === "claim") return compileClaim(hook, list, fail);
  if (kind === "modify") return compileModify(hook, list, fail);
  return compileParallel(hook, list, fail, kind === "collect");
}

type Fail = (tap: Tap, error: unknown) => void;

/** A gate that cannot answer refuses. */
function compileGate(hook: HookName, list: Tap[], fail: Fail): Call {
  const gate = new AsyncSeriesBailHook<[unknown, Meta], unknown>(["event", "meta"]);
  for (const tap of list) {
    gate.tapPromise(tap.plugin, async (event, meta) => {
      try {
        const result = (await runTap(tap, hook, event, meta)) as { block?: boolean; reason?: string } | null | undefined;
        return result?.block === true ? { block: true, reason: result.reason ?? "refused", plugin: tap.plugin } : undefined;
      } catch (error) {
        fail(tap, error);
        return { block: true, reason: `a check of plugin "${tap.plugin}" failed`, plugin: tap.plugin };
      }
    });
  }
  return async (event, meta) => (await gate.promise(event, meta)) ?? { block: false };
}

function compileClaim(hook: HookName, list: Tap[], fail: Fail): Call {
  const claim = new AsyncSeriesBailHook<[unknown, Meta], unknown>(["event", "meta"]);
  for (const tap of list) {
    claim.tapPromise(tap.plugin, async (event, meta) => {
      try {
        const result = (await runTap(tap, hook, event, meta)) as { handled?: boolean } | null | undefined;
        return result?.handled === true ? { ...result, plugin: tap.plugin } : undefined;
      } catch (error) {
        fail(tap, error);
        return undefined;
      }
    });
  }
  return (event, meta) => claim.promise(event, meta);
}

function compileModify(hook: HookName, list: Tap[], fail: Fail): Call {
  const modify = new AsyncSeriesWaterfallHook<[unknown, Meta]>(["event", "meta"]);
  for (const tap of list) {
    modify.tapPromise(tap.plugin, async (event, meta) => {
      try {
        const result = await runTap(tap, hook, Object.freeze(event), meta);
        if (result === undefined || result === null) return event;
        if (typeof result !== "object" || Array.isArray(result)) {
          throw new SvcError("hook-failed", { hook, plugin: tap.plugin, reason: "returned something else than an event object" });
        }
        return result;
      } catch (error) {
        fail(tap, error);
        return event;
      }
    });
  }
  return (event, meta) => modify.promise(event, meta);
}

function compileParallel(hook: HookName, list: Tap[], fail: Fail, collecting: boolean): Call {
  const parallel = new AsyncParallelHook<[unknown, Meta, unknown[]]>(["event", "meta", "items"]);
  for (const tap of list) {
    parallel.tapPromise(tap.plugin, async (event, meta, items) => {
      try {
        await runTap(tap, hook, event, { ...meta, report: (item) => items.push(item) });
      } catch (error) {
        fail(tap, error);
        if (collecting) items.push({ part: tap.plugin, ok: false, message: messageOf(error) });
      }
    });
  }
  return async (event, meta) => {
    const items: unknown[] = [];
    await parallel.promise(event, meta, items);
    return collecting ? items : undefined;
  };
}
