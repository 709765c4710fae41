import { channelContract, vendorIn } from "svc/sdk/testing";
import { startDiscordPeer } from "../../test/fakes/discord-peer.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import { createDiscordChannel } from "./channel.ts";
import type { DiscordLibrary, SocketLibrary } from "./library.ts";

const vendor = vendorIn(import.meta.dirname);

(await needsPackages("channel-discord")).describe("the channel, with a fake of Discord at the other side", () => {
  channelContract({
    create: () =>
      createDiscordChannel({
        load: async () => ({ discord: await vendor.load<DiscordLibrary>("discord.js"), sockets: await vendor.load<SocketLibrary>("ws") }),
        fetch,
        kv: memoryKv(),
        times: { reconnectMs: 20, offerMs: 20, progressMs: 5, closeMs: 200 },
      }),
    peer: startDiscordPeer,
  });
});
