import { channelContract } from "svc/sdk/testing";
import { afterAll, beforeAll } from "vitest";
import { needs } from "../../test/servers/needs.ts";
import { type Prosody, startProsody } from "../../test/servers/prosody.ts";
import { PEER_PASSWORDS, startXmppPeer } from "../../test/servers/xmpp-peer.ts";
import { createXmppChannel } from "./channel.ts";

needs("prosody").describe("the channel, with prosody at the other side", () => {
  let server: Prosody;
  let peers = 0;
  beforeAll(async () => {
    server = await startProsody();
    await server.register(PEER_PASSWORDS.good, "second", "ada");
  });
  afterAll(() => server?.close());

  channelContract({
    create: () => createXmppChannel({ reconnectMs: 20, offerMs: 20 }),
    async peer() {
      peers += 1;
      // Messages that a server keeps would reach the account of the next case.
      await server.register(PEER_PASSWORDS.good, `bot${peers}`);
      return startXmppPeer(server, `bot${peers}`);
    },
  });
});
