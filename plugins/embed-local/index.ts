import { definePlugin } from "svc/sdk";
import { createLocalAdapter } from "./adapter.ts";

/** Embeddings on this machine: the adapter `local`. */
export default definePlugin({
  id: "embed-local",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const base = ctx.service("gateway@1").info().stateDir;
    ctx.registerEmbeddingAdapter(createLocalAdapter({ runtime: ctx.service("local-runtime@1"), base }));
  },
});
