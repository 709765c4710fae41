import { definePlugin } from "svc/sdk";
import { messageTool } from "./direct/message-tool.ts";
import { createMessaging } from "./messaging.ts";
import { registerChannelMethods } from "./rpc/channels.ts";
import { registerPairingMethods } from "./rpc/pairing.ts";
import { registerQueueMethods } from "./rpc/queue.ts";
import { registerSendMethod } from "./rpc/send.ts";

/** Messages from and to channels: each is a row before anything is done with it, and what became of it can be seen. */
export default definePlugin({
  id: "messaging",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { service, queue, accounts, channels, pairings, life } = createMessaging(ctx);
    ctx.registerService("messaging@1", service);
    registerChannelMethods(ctx, accounts);
    registerPairingMethods(ctx, { pairings, accounts, queue });
    registerQueueMethods(ctx, { queue });
    registerSendMethod(ctx, { service, channels });
    ctx.registerTool(messageTool({ ctx, service, channels, pairings }));
    return life;
  },
});
