import { type HookPreset, messageOf, type PluginContext, type PreparedReload } from "svc/sdk";
import type { HooksConfig } from "./action.ts";
import type { Deliveries } from "./deliveries/deliveries.ts";
import type { TickFacts } from "./deliveries/runner.ts";
import type { Endpoint, EndpointState } from "./endpoint/endpoint.ts";

/** The plugin as a whole: nothing of it is loaded before hooks are switched on, or rows of an earlier time wait. */
export interface Webhooks {
  /** Serves webhooks if the config enables them. */
  open(): Promise<void>;
  /** Prepares the ingress of another config, beside the one that answers. */
  prepare(hooks: HooksConfig, signal: AbortSignal): Promise<PreparedReload>;
  /** Processes accepted work from here on, at the latest when the gateway is ready. */
  start(): Promise<void>;
  carryOn(): Promise<void>;
  stop(): Promise<void>;
  close(): void;
  /** State for operators; undefined while webhooks are not served. */
  inspect(): Promise<EndpointState | undefined>;
  deliveries(): Promise<Deliveries>;
  /** Timer over waiting actions; undefined while none is processed. */
  tick(): TickFacts | undefined;
}

export function createWebhooks(ctx: PluginContext): Webhooks {
  let endpoint: Promise<Endpoint> | undefined;
  let opened: Endpoint | undefined;
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
  const loadEndpoint = () =>
    (endpoint ??= (async () => {
      const { createEndpoint } = await import("./endpoint/endpoint.ts");
      opened = createEndpoint(ctx, await loadDeliveries());
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

  // A preset that comes late, or whose plugin was replaced, changes the mappings.
  ctx.contributions<HookPreset>("hookPreset").watch(() => {
    opened?.presetsChanged().catch((error: unknown) => {
      if (!ctx.signal.aborted) ctx.logger.error("hooks: presets could not be loaded", { error: messageOf(error) });
    });
  });

  return {
    async open() {
      const { hooks } = ctx.snapshot();
      if (!hooks.enabled) return;
      const endpoint = await loadEndpoint();
      endpoint.install(await endpoint.prepare(hooks, ctx.signal));
    },
    async prepare(hooks, signal) {
      if (!hooks.enabled) return { apply: () => opened?.close(), discard: () => undefined };
      const endpoint = await loadEndpoint();
      const prepared = await endpoint.prepare(hooks, signal);
      return { apply: () => endpoint.install(prepared), discard: () => prepared.dispose() };
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
    close: () => opened?.close(),
    inspect: async () => opened?.inspect(),
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
