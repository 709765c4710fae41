import type { PluginProtocol } from "svc/sdk";
import { importErrors } from "./errors.ts";

/** Errors of this plugin. The manifest names this module; `svc.protocol.json` is written from it. */
export default { errors: [importErrors] } satisfies PluginProtocol;
