import type { PluginProtocol } from "svc/sdk";
import { operatorErrors } from "./errors.ts";
import { logsMethods } from "./protocol-methods.ts";
import { logsResults } from "./protocol-results.ts";
import { errors as serviceErrors } from "./service/errors.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: logsMethods, results: logsResults, errors: [operatorErrors, serviceErrors] } satisfies PluginProtocol;
