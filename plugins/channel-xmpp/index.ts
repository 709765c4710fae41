import { definePlugin } from "svc/sdk";
import { createXmppChannel } from "./channel.ts";

/** The channel `xmpp`: one session per account at an XMPP server. */
export default definePlugin({
  id: "channel-xmpp",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerChannel(createXmppChannel());
  },
});
