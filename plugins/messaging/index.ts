import { definePlugin } from "svc/sdk";
import { createMessaging } from "./messaging.ts";
import { registerQueueMethods } from "./rpc.ts";

/** Messages to channels: each is a row before its first try, and what became of it can be seen. */
export default definePlugin({
  id: "messaging",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { service, queue, life } = createMessaging(ctx);
    ctx.registerService("messaging@1", service);
    registerQueueMethods(ctx, { queue });
    return life;
  },
});
