import { definePlugin } from "svc/sdk";
import { createIrcChannel } from "./channel.ts";

/** The channel `irc`: one link per account to an IRC server. */
export default definePlugin({
  id: "channel-irc",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerChannel(createIrcChannel());
  },
});
