import { type Disposable, definePlugin, type SvcConfig } from "svc/sdk";
import { CONTENT_TYPE, toExposition } from "./exposition.ts";

/** Serves the figures of the gateway at `/metrics`, to operators, while `diagnostics.prometheus.enabled` is set. Loaded by the first request. */
export default definePlugin({
  id: "diagnostics-prometheus",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    let route: Disposable | undefined;
    const serve = ({ diagnostics }: SvcConfig) => {
      const isWanted = diagnostics.enabled && diagnostics.prometheus.enabled;
      if (!isWanted) void route?.dispose();
      if (!isWanted) route = undefined;
      else
        route ??= ctx.registerHttpRoute({
          method: "GET",
          path: "/metrics",
          match: "exact",
          auth: "gateway",
          handler: () => ({
            headers: { "Content-Type": CONTENT_TYPE, "Cache-Control": "no-store" },
            body: toExposition(ctx.service("diagnostics@1").metrics()),
          }),
        });
    };
    serve(ctx.snapshot());
    ctx.onReload({ prefixes: ["diagnostics"], prepare: async (next) => ({ apply: () => serve(next), discard: () => undefined }) });
  },
});
