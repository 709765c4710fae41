import type { PluginProtocol } from "svc/sdk";
import { dreamingMethods, dreamingResults } from "./dreaming/protocol.ts";
import { memoryErrors } from "./errors.ts";
import { memoryEvents } from "./protocol-events.ts";
import { memoryMethods } from "./protocol-methods.ts";
import { memoryResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default {
  methods: { ...memoryMethods, ...dreamingMethods },
  results: { ...memoryResults, ...dreamingResults },
  events: memoryEvents,
  errors: [memoryErrors],
} satisfies PluginProtocol;
