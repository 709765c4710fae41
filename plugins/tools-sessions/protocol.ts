import type { PluginProtocol } from "svc/sdk";
import { sessionToolErrors } from "./errors.ts";

/** Errors of this plugin. The manifest names this module; `svc.protocol.json` is written from it. */
export default { methods: {}, results: {}, events: {}, errors: [sessionToolErrors] } satisfies PluginProtocol;
