import { definePlugin } from "svc/sdk";
import { hookFindings } from "./doctor.ts";
import { healthPart } from "./health.ts";
import { registerWebhookRpc } from "./rpc.ts";
import { createWebhooks } from "./webhooks.ts";

/** Events of other systems: a request is acknowledged when what it asks for is stored, and carried out after. */
export default definePlugin({
  id: "webhooks",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  async setup(ctx) {
    const webhooks = createWebhooks(ctx);
    ctx.onDispose(() => webhooks.close());
    ctx.onReload({ prefixes: ["hooks"], prepare: (next, _prev, { signal }) => webhooks.prepare(next.hooks, signal) });
    registerWebhookRpc(ctx, webhooks);
    const facts = async () => ({ state: await webhooks.inspect(), counts: await ctx.service("store@2").deliveries.counts() });
    ctx.on("health.collect", async (_, meta) =>
      meta.report(healthPart(ctx.snapshot().hooks, { ...(await facts()), tick: webhooks.tick() })),
    );
    ctx.on("doctor.collect", async (_, meta) => {
      for (const finding of hookFindings(ctx.snapshot().hooks, await facts())) meta.report(finding);
    });
    await webhooks.open();
    ctx.on("gateway.ready", () => webhooks.carryOn());
    return { start: () => webhooks.start(), stop: () => webhooks.stop() };
  },
});
