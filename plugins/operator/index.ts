import { definePlugin, methodOf } from "svc/sdk";
import { logsMethods } from "./protocol-methods.ts";

/** Commands for operators: they live in `cli/` and run in the process of `svc`. In the gateway the plugin answers `logs.tail`. */
export default definePlugin({
  id: "operator",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const gateway = ctx.service("gateway@1");
    ctx.registerRpc({ ...methodOf(logsMethods, "logs.tail"), handler: (question) => gateway.tailLog(question) });
  },
});
