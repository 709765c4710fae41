import type { PluginProtocol } from "svc/sdk";
import { deviceErrors } from "./errors.ts";
import { devicesEvents } from "./protocol-events.ts";
import { devicesMethods } from "./protocol-methods.ts";
import { devicesResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: devicesMethods, results: devicesResults, events: devicesEvents, errors: [deviceErrors] } satisfies PluginProtocol;
