import { channelContract, vendorIn } from "svc/sdk/testing";
import { startMatrixPeer } from "../../test/fakes/matrix-peer.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import { createMatrixChannel } from "./channel.ts";
import { loadLibrary } from "./library.ts";

(await needsPackages("channel-matrix")).describe("the channel, with a fake homeserver at the other side", () => {
  channelContract({
    create: () =>
      createMatrixChannel({
        load: () => loadLibrary(vendorIn(import.meta.dirname)),
        fetch,
        kv: memoryKv(),
        times: { reconnectMs: 20, offerMs: 20 },
      }),
    peer: startMatrixPeer,
  });
});
