import { definePlugin } from "svc/sdk";
import { createMistralAdapter } from "./adapter.ts";

export default definePlugin({
  id: "embed-mistral",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerEmbeddingAdapter(createMistralAdapter(ctx));
  },
});
