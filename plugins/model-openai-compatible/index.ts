import { definePlugin, messageOf } from "svc/sdk";
import { createConnection } from "./connection.ts";
import { readEnv } from "./env.ts";
import { createProvider } from "./provider.ts";
import { resolveProviders } from "./settings.ts";

export default definePlugin({
  id: "model-openai-compatible",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { providers, skipped } = resolveProviders(ctx.snapshot().models.providers, readEnv);
    for (const { id, reason } of skipped) ctx.logger.warn(`models.providers.${id}: ${reason}`);
    for (const settings of providers) {
      const connection = createConnection(settings.timeoutMs);
      ctx.onDispose(() => connection.close());
      try {
        ctx.registerModelProvider(createProvider(settings, { connection, clock: ctx.clock, logger: ctx.logger }));
      } catch (error) {
        // One bad name must not take the other vendors down with it.
        ctx.logger.warn(`models.providers.${settings.id}: not registered: ${messageOf(error)}`);
      }
    }
  },
});
