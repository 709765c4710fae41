import type { PluginProtocol } from "svc/sdk";
import { webhooksMethods } from "./protocol-methods.ts";
import { webhooksResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: webhooksMethods, results: webhooksResults } satisfies PluginProtocol;
