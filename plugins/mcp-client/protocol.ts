import type { PluginProtocol } from "svc/sdk";
import { mcpErrors } from "./errors.ts";
import { mcpMethods } from "./protocol-methods.ts";
import { mcpResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: mcpMethods, results: mcpResults, errors: [mcpErrors] } satisfies PluginProtocol;
