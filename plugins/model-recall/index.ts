import { definePlugin } from "svc/sdk";
import { createRecallProvider } from "./provider.ts";

export default definePlugin({
  id: "model-recall",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerModelProvider(createRecallProvider());
  },
});
