import { definePlugin } from "svc/sdk";
import { createLocalAdapter } from "./adapter.ts";
import { childEnv } from "./child-env.ts";

/** Embeddings on this machine: the adapter `local`. */
export default definePlugin({
  id: "embed-local",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const base = ctx.service("gateway@1").info().stateDir;
    const { adapter, close } = createLocalAdapter({ vendor: ctx.vendor, base, env: childEnv(ctx.env), logger: ctx.logger });
    ctx.registerEmbeddingAdapter(adapter);
    ctx.onDispose(close);
  },
});
