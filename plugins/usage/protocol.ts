import type { PluginProtocol } from "svc/sdk";
import { usageMethods } from "./protocol-methods.ts";
import { usageResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: usageMethods, results: usageResults, events: {}, errors: [] } satisfies PluginProtocol;
