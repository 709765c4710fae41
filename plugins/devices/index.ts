import { randomUUID } from "node:crypto";
import { definePlugin } from "svc/sdk";
import { createDeviceRegistry } from "./device-registry.ts";
import { registerDeviceMethods } from "./methods.ts";
import { createDeviceRows } from "./rows.ts";
import { createDevices } from "./service.ts";

/** Maximum delay of the announcement that a pairing request has ended. */
const SWEEP_MS = 5_000;

/** Device pairing: who may connect with a key of its own, who waits for it, and the tokens of those who may. */
export default definePlugin({
  id: "devices",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const gateway = ctx.service("gateway@1");
    const now = () => ctx.clock.now();
    const registry = createDeviceRegistry({
      rows: createDeviceRows(() => ctx.service("store@2")),
      now,
      monotonic: () => ctx.clock.monotonic(),
      randomId: randomUUID,
      emit: (event, payload) => ctx.emit(event, payload),
      end: gateway.endDevice,
      logger: ctx.logger,
    });
    ctx.registerService("devices@1", createDevices(registry, now));
    registerDeviceMethods(ctx, registry);
    ctx.timers.setInterval(() => registry.pending.sweep(), SWEEP_MS);
    return {
      stop() {
        // An instance that takes this one's place knows none of them; at a stop of the gateway its clients are told of that alone.
        if (gateway.info().phase !== "draining") registry.pending.clear();
      },
    };
  },
});
