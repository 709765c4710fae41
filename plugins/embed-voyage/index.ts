import { definePlugin } from "svc/sdk";
import { createVoyageAdapter } from "./adapter.ts";

export default definePlugin({
  id: "embed-voyage",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerEmbeddingAdapter(createVoyageAdapter(ctx));
  },
});
