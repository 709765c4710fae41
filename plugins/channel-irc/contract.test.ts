import { channelContract } from "svc/sdk/testing";
import { startIrcPeer } from "../../test/servers/irc-peer.ts";
import { needs } from "../../test/servers/needs.ts";
import { createIrcChannel } from "./channel.ts";

needs("ngircd").describe("the channel, with ngircd at the other side", () => {
  channelContract({ create: () => createIrcChannel({ reconnectMs: 20, offerMs: 20 }), peer: startIrcPeer });
});
