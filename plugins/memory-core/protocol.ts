import type { PluginProtocol } from "svc/sdk";
import { memoryEvents } from "./protocol-events.ts";
import { memoryMethods } from "./protocol-methods.ts";
import { memoryResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: memoryMethods, results: memoryResults, events: memoryEvents } satisfies PluginProtocol;
