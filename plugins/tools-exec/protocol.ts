import type { PluginProtocol } from "svc/sdk";
import { execErrors } from "./errors.ts";
import { execMethods, execResults } from "./protocol-methods.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: execMethods, results: execResults, events: {}, errors: [execErrors] } satisfies PluginProtocol;
