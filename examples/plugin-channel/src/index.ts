import { definePlugin } from "svc/sdk";
import { createLinesChannel } from "./channel.ts";

export default definePlugin({
  id: "channel-lines",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerChannel(createLinesChannel());
  },
});
