import type { PluginProtocol } from "svc/sdk";
import { databaseErrors } from "./errors.ts";

/** Errors of this plugin; those that every store has stand in the plugin `store`. */
export default { errors: [databaseErrors] } satisfies PluginProtocol;
