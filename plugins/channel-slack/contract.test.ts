import { channelContract, vendorIn } from "svc/sdk/testing";
import { startSlackPeer } from "../../test/fakes/slack-peer.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import { createSlackChannel } from "./channel.ts";
import { createEventsEndpoint } from "./endpoint.ts";
import { loadSlackLibrary } from "./library.ts";

(await needsPackages("channel-slack")).describe("the channel, with a fake of Slack at the other side", () => {
  channelContract({
    create: () =>
      createSlackChannel({
        load: () => loadSlackLibrary(vendorIn(import.meta.dirname)),
        fetch,
        endpoint: createEventsEndpoint(1_000),
        times: { reconnectMs: 20, offerMs: 20, closeMs: 100 },
      }),
    peer: startSlackPeer,
  });
});
