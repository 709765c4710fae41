import { commonErrors, type HookPreset, methodOf, type PluginContext } from "svc/sdk";
import { figuresOf } from "./health.ts";
import { webhooksMethods } from "./protocol-methods.ts";
import type { Webhooks } from "./webhooks.ts";

const RECENT = 50;
const dirs = ["hook-agent", "hook-wake"] as const;
/** Each trial has a process of its own for transforms. */
const MAX_TRIALS = 2;

/** The `webhooks.*` methods of the control protocol. Whoever may read sees no secret, and a text only of one delivery that is asked for. */
export function registerWebhookRpc(ctx: TrialContext, webhooks: Webhooks): void {
  const store = () => ctx.service("store@2");

  ctx.registerRpc({
    ...methodOf(webhooksMethods, "webhooks.list"),
    async handler() {
      const { hooks } = ctx.snapshot();
      const state = await webhooks.inspect();
      return {
        enabled: hooks.enabled,
        ...(state ? { path: state.path } : {}),
        presets: hooks.presets.map((id) => ({ id, isKnown: state?.knownPresets.includes(id) ?? false })),
        mappings: state?.mappings ?? [],
        isolation: hooks.transforms.isolation,
        problems: state?.problems ?? [],
        counts: figuresOf(await store().deliveries.counts()),
      };
    },
  });

  ctx.registerRpc({
    ...methodOf(webhooksMethods, "webhooks.recent"),
    async handler({ limit = RECENT, states }) {
      const { summariseDeliveries } = await import("./deliveries/delivery-summary.ts");
      const rows = await store().deliveries.list({ dirs, limit, ...(states ? { states } : {}) });
      return {
        deliveries: await summariseDeliveries(rows, store()),
        counts: figuresOf(await store().deliveries.counts()),
      };
    },
  });

  ctx.registerRpc({
    ...methodOf(webhooksMethods, "webhooks.show"),
    async handler({ uid, payload = false }) {
      const [{ summariseDelivery }, { decodeAction }] = await Promise.all([
        import("./deliveries/delivery-summary.ts"),
        import("./deliveries/stored-action.ts"),
      ]);
      const row = await store().deliveries.get(uid);
      if (!row || row.dir === "out") throw commonErrors.unknownDelivery({ uid });
      const action = payload ? decodeAction(row) : undefined;
      return { delivery: await summariseDelivery(row, store()), ...(action ? { action } : {}) };
    },
  });

  ctx.registerRpc({
    ...methodOf(webhooksMethods, "webhooks.retry"),
    async handler({ uid }) {
      await (await webhooks.deliveries()).retry(uid);
      ctx.logger.info(`hook delivery ${uid}: retried by an operator`);
      return { ok: true as const, uid };
    },
  });

  ctx.registerRpc({
    ...methodOf(webhooksMethods, "webhooks.drop"),
    async handler({ uid }) {
      await (await webhooks.deliveries()).drop(uid);
      ctx.logger.info(`hook delivery ${uid}: dropped by an operator`);
      return { ok: true as const, uid };
    },
  });

  registerTrial(ctx);
}

type TrialContext = Pick<PluginContext, "registerRpc" | "snapshot" | "service" | "contributions" | "logger" | "clock" | "env">;

function registerTrial(ctx: TrialContext): void {
  const presets = ctx.contributions<HookPreset>("hookPreset");
  let trials = 0;
  ctx.registerRpc({
    ...methodOf(webhooksMethods, "webhooks.test"),
    async handler({ name, payload = {}, headers = {} }, { signal }) {
      if (trials >= MAX_TRIALS) throw commonErrors.busy({}, { retryAfterMs: 1_000 });
      trials += 1;
      try {
        const { tryHook } = await import("./trial/try-hook.ts");
        return await tryHook(ctx, ctx.snapshot().hooks, { trial: { name, payload, headers }, presets, signal });
      } finally {
        trials -= 1;
      }
    },
  });
}
