import type { PluginProtocol } from "svc/sdk";
import { auditMethods } from "./protocol-methods.ts";
import { auditResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: auditMethods, results: auditResults, events: {}, errors: [] } satisfies PluginProtocol;
