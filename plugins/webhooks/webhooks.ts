import { type HookPreset, messageOf, type PluginContext, type PreparedReload } from "svc/sdk";
import type { HooksConfig } from "./action.ts";
import type { Deliveries } from "./deliveries/deliveries.ts";
import type { TickFacts } from "./deliveries/runner.ts";
import type { Entrance, EntranceState } from "./door/entrance.ts";

/** The plugin as a whole: nothing of it is loaded before hooks are switched on, or rows of an earlier time wait. */
export interface Webhooks {
  /** Opens the door if the config wants one. */
  open(): Promise<void>;
  /** A door for another config, beside the one that answers. */
  prepare(hooks: HooksConfig, signal: AbortSignal): Promise<PreparedReload>;
  /** Accepted work is carried out from here on, at the latest when the gateway is ready. */
  start(): Promise<void>;
  carryOn(): Promise<void>;
  stop(): Promise<void>;
  close(): void;
  /** State for operators; undefined while webhooks are not served. */
  look(): Promise<EntranceState | undefined>;
  deliveries(): Promise<Deliveries>;
  /** Timer over waiting actions; undefined while none is processed. */
  tick(): TickFacts | undefined;
}

export function createWebhooks(ctx: PluginContext): Webhooks {
  let entrance: Promise<Entrance> | undefined;
  let opened: Entrance | undefined;
  let deliveries: Promise<Deliveries> | undefined;
  let loaded: Deliveries | undefined;
  let isCarrying = false;
  let isStopped = false;

  const loadDeliveries = () =>
    (deliveries ??= (async () => {
      const { Deliveries } = await import("./deliveries/deliveries.ts");
      const made = new Deliveries(ctx);
      loaded = made;
      if (isCarrying) await made.start();
      return made;
    })());
  const loadEntrance = () =>
    (entrance ??= (async () => {
      const { createEntrance } = await import("./door/entrance.ts");
      opened = createEntrance(ctx, await loadDeliveries());
      return opened;
    })());
  const carryOn = async () => {
    if (isCarrying) return;
    isCarrying = true;
    // A request may load them while the rows are counted; whoever comes first starts them.
    if (!deliveries && !(await hasWork(ctx)) && !deliveries) return;
    // A stop came while they were counted; nothing is loaded after it.
    if (isStopped) return;
    await (await loadDeliveries()).start();
  };

  // A preset that comes late, or whose plugin was replaced, changes what the door knows.
  ctx.contributions<HookPreset>("hookPreset").watch(() => {
    opened?.presetsChanged().catch((error: unknown) => {
      if (!ctx.signal.aborted) ctx.logger.error("hooks: presets could not be loaded", { error: messageOf(error) });
    });
  });

  return {
    async open() {
      const { hooks } = ctx.snapshot();
      if (!hooks.enabled) return;
      const door = await loadEntrance();
      door.install(await door.prepare(hooks, ctx.signal));
    },
    async prepare(hooks, signal) {
      if (!hooks.enabled) return { apply: () => opened?.shut(), discard: () => undefined };
      const door = await loadEntrance();
      const prepared = await door.prepare(hooks, signal);
      return { apply: () => door.install(prepared), discard: () => prepared.dispose() };
    },
    async start() {
      if (ctx.service("gateway@1").info().phase === "ready") await carryOn();
    },
    carryOn,
    async stop() {
      isStopped = true;
      const made = await deliveries?.catch(() => undefined);
      await made?.stop().catch((error: unknown) => ctx.logger.warn("hook deliveries did not stop well", { error: messageOf(error) }));
    },
    close: () => opened?.shut(),
    look: async () => opened?.look(),
    deliveries: loadDeliveries,
    tick: () => loaded?.tick(),
  };
}

/** Rows that somebody accepted while hooks were on: they run, whatever the switch says now. */
async function hasWork(ctx: Pick<PluginContext, "service">): Promise<boolean> {
  const { byDir } = await ctx.service("store@2").deliveries.counts();
  const states = byDir["hook-agent"] ?? {};
  return (states.accepted ?? 0) + (states.running ?? 0) > 0;
}
