import type { PluginProtocol } from "svc/sdk";
import { cronErrors } from "./errors.ts";
import { cronEvents } from "./protocol-events.ts";
import { cronMethods } from "./protocol-methods.ts";
import { cronResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: cronMethods, results: cronResults, events: cronEvents, errors: [cronErrors] } satisfies PluginProtocol;
