import { definePlugin } from "svc/sdk";
import { createOpenAiAdapter } from "./adapter.ts";

export default definePlugin({
  id: "embed-openai",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerEmbeddingAdapter(createOpenAiAdapter(ctx));
  },
});
