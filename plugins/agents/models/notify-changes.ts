import type { PluginContext } from "svc/sdk";

/** Changes come in bursts: a reload registers many providers, and a chain of models may fail as a whole. */
const SETTLE_MS = 100;

/**
 * Creates the notifier of clients: it sends `models.changed`, once per burst, where the answer of `models.status` may differ from the last one. Changes of the
 * config call it by themselves. The end of a rest needs no event: `models.status` named its time.
 */
export function createModelsNotifier(ctx: PluginContext): () => void {
  const gateway = ctx.service("gateway@1");
  let isPending = false;
  let isOver = false;
  // Providers of other plugins go, and runs end, when this one has stopped already.
  ctx.onDispose(() => {
    isOver = true;
  });
  const changed = () => {
    if (isOver) return;
    gateway.invalidateHealth();
    if (isPending) return;
    isPending = true;
    ctx.timers.setTimeout(() => {
      isPending = false;
      ctx.emit("models.changed", { ts: ctx.clock.now() });
    }, SETTLE_MS);
  };
  ctx.onReload({ prefixes: ["agents", "models"], prepare: async () => ({ apply: changed, discard: () => undefined }) });
  return changed;
}
