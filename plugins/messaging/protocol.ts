import type { PluginProtocol } from "svc/sdk";
import { messagingErrors } from "./errors.ts";
import { messagingEvents } from "./protocol-events.ts";
import { messagingMethods } from "./protocol-methods.ts";
import { messagingResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default {
  methods: messagingMethods,
  results: messagingResults,
  events: messagingEvents,
  errors: [messagingErrors],
} satisfies PluginProtocol;
