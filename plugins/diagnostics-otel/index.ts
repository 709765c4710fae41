import { definePlugin, type SvcConfig } from "svc/sdk";
import type { OtelExport } from "./otel-export.ts";

/** Sends traces and metrics to a collector while `diagnostics.otel.enabled` is set. Nothing is loaded or recorded before. */
export default definePlugin({
  id: "diagnostics-otel",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  async setup(ctx) {
    let running: OtelExport | undefined;
    const isWanted = ({ diagnostics }: SvcConfig) => diagnostics.enabled && diagnostics.otel.enabled;
    const load = async (config: SvcConfig) => (isWanted(config) ? (await import("./otel-export.ts")).startExport : undefined);
    const start = await load(ctx.snapshot());
    ctx.onReload({
      prefixes: ["diagnostics"],
      async prepare(next) {
        const startNext = await load(next);
        return {
          async apply() {
            await running?.stop();
            running = startNext?.(ctx, next);
          },
          discard: () => undefined,
        };
      },
    });
    return {
      start() {
        running = start?.(ctx, ctx.snapshot());
      },
      stop: () => running?.stop(),
    };
  },
});
