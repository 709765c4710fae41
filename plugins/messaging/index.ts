import { definePlugin } from "svc/sdk";
import { createMessaging } from "./messaging.ts";
import { registerChannelMethods } from "./rpc/channels.ts";
import { registerPairingMethods } from "./rpc/pairing.ts";
import { registerQueueMethods } from "./rpc/queue.ts";

/** Messages from and to channels: each is a row before anything is done with it, and what became of it can be seen. */
export default definePlugin({
  id: "messaging",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { service, queue, accounts, pairings, life } = createMessaging(ctx);
    ctx.registerService("messaging@1", service);
    registerChannelMethods(ctx, accounts);
    registerPairingMethods(ctx, { pairings, accounts, queue });
    registerQueueMethods(ctx, { queue });
    return life;
  },
});
