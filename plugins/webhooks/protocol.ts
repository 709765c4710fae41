import type { PluginProtocol } from "svc/sdk";
import { actionErrors } from "./actions/errors.ts";
import { deliveryErrors } from "./deliveries/errors.ts";
import { webhooksMethods } from "./protocol-methods.ts";
import { webhooksResults } from "./protocol-results.ts";
import { transformErrors } from "./transforms/errors.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default {
  methods: webhooksMethods,
  results: webhooksResults,
  errors: [actionErrors, deliveryErrors, transformErrors],
} satisfies PluginProtocol;
