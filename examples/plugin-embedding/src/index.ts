import { definePlugin } from "svc/sdk";
import { createHashingAdapter } from "./hashing.ts";

export default definePlugin({
  id: "embed-hashing",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerEmbeddingAdapter(createHashingAdapter());
  },
});
