import { definePlugin } from "svc/sdk";
import { createMqttChannel } from "./channel.ts";
import type { MqttLibrary } from "./library.ts";

/** The channel `mqtt`: one session per account at an MQTT broker. */
export default definePlugin({
  id: "channel-mqtt",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerChannel(createMqttChannel({ load: () => ctx.vendor.load<MqttLibrary>("mqtt"), kv: ctx.kv }));
  },
});
