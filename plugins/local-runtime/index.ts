import { definePlugin } from "svc/sdk";
import { childEnv } from "./child-env.ts";
import { createLocalRuntime } from "./runtime.ts";

/** Models on this machine: the service `local-runtime@1`. */
export default definePlugin({
  id: "local-runtime",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { runtime, close } = createLocalRuntime({ vendor: ctx.vendor, env: childEnv(ctx.env), logger: ctx.logger, request: ctx.request });
    ctx.registerService("local-runtime@1", runtime);
    ctx.onDispose(close);
  },
});
