import type { PluginProtocol } from "svc/sdk";
import { mcpCliErrors } from "./errors.ts";
import { mcpServedMethods, mcpServedResults } from "./protocol-methods.ts";

/** Part of the protocol that this plugin serves, and its errors. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: mcpServedMethods, results: mcpServedResults, errors: [mcpCliErrors] } satisfies PluginProtocol;
