import type { PluginProtocol } from "svc/sdk";
import { mcpCliErrors } from "./errors.ts";

/** Errors of this plugin. The manifest names this module; `svc.protocol.json` is written from it. */
export default { errors: [mcpCliErrors] } satisfies PluginProtocol;
