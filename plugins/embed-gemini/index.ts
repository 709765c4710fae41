import { definePlugin } from "svc/sdk";
import { createGeminiAdapter } from "./adapter.ts";

export default definePlugin({
  id: "embed-gemini",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerEmbeddingAdapter(createGeminiAdapter(ctx));
  },
});
