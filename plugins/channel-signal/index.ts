import { definePlugin } from "svc/sdk";
import { createSignalChannel } from "./channel.ts";

/** The channel `signal`: one link per account to a `signal-cli` daemon. */
export default definePlugin({
  id: "channel-signal",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerChannel(createSignalChannel(ctx.kv));
  },
});
