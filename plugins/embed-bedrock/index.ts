import { definePlugin } from "svc/sdk";
import { createBedrockAdapter } from "./adapter.ts";

export default definePlugin({
  id: "embed-bedrock",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { adapter, conversations, close } = createBedrockAdapter({ env: ctx.env, request: ctx.request });
    ctx.onDispose(close);
    ctx.registerEmbeddingAdapter(adapter);
    ctx.registerService("bedrock@1", conversations);
  },
});
