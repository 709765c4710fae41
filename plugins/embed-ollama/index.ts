import { definePlugin } from "svc/sdk";
import { createOllamaAdapter } from "./adapter.ts";

export default definePlugin({
  id: "embed-ollama",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerEmbeddingAdapter(createOllamaAdapter(ctx));
  },
});
