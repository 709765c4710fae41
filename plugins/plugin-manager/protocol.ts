import type { PluginProtocol } from "svc/sdk";
import { installErrors } from "./errors.ts";
import { pluginManagerEvents } from "./protocol-events.ts";
import { pluginManagerMethods } from "./protocol-methods.ts";
import { pluginManagerResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default {
  methods: pluginManagerMethods,
  results: pluginManagerResults,
  events: pluginManagerEvents,
  errors: [installErrors],
} satisfies PluginProtocol;
