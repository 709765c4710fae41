import { definePlugin } from "svc/sdk";
import { createDiscordChannel } from "./channel.ts";
import type { DiscordLibrary, SocketLibrary } from "./library.ts";

/** The channel `discord`: one bot per account. */
export default definePlugin({
  id: "channel-discord",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerChannel(
      createDiscordChannel({
        load: async () => ({
          discord: await ctx.vendor.load<DiscordLibrary>("discord.js"),
          sockets: await ctx.vendor.load<SocketLibrary>("ws"),
        }),
        fetch: (url, init) => ctx.fetch(url, init),
        kv: ctx.kv,
      }),
    );
  },
});
