import { channelContract, vendorIn } from "svc/sdk/testing";
import { afterAll, beforeAll } from "vitest";
import { needsMail } from "../../test/servers/mail-needs.ts";
import { startMailPeers } from "../../test/servers/mail-peer.ts";
import { createMailChannel } from "./channel.ts";
import { createMemoryKv } from "./memory-kv.ts";

(await needsMail()).describe("the channel, with dovecot and an SMTP server at the other side", () => {
  let peers: Awaited<ReturnType<typeof startMailPeers>>;
  beforeAll(async () => {
    peers = await startMailPeers();
  });
  afterAll(() => peers?.stop());

  channelContract({
    create: () =>
      createMailChannel(
        { vendor: vendorIn(import.meta.dirname), kv: createMemoryKv(), fetch, now: Date.now },
        { reconnectMs: 20, offerMs: 20, firstPollMs: 100 },
      ),
    peer: () => peers.peer(),
  });
});
