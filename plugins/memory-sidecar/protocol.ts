import type { PluginProtocol } from "svc/sdk";
import { sidecarErrors } from "./errors.ts";

/** Errors of this plugin. The manifest names this module; `svc.protocol.json` is written from it. */
export default { errors: [sidecarErrors] } satisfies PluginProtocol;
