import { channelContract } from "svc/sdk/testing";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { loadMqtt, needsMqtt } from "../../test/servers/mqtt-library.ts";
import { startMqttPeer } from "../../test/servers/mqtt-peer.ts";
import { createMqttChannel } from "./channel.ts";

(await needsMqtt("mosquitto")).describe("the channel, with mosquitto at the other side", () => {
  channelContract({
    create: () => createMqttChannel({ load: loadMqtt, kv: memoryKv(), times: { reconnectMs: 20, offerMs: 20 } }),
    peer: startMqttPeer,
  });
});
