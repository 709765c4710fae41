import type { PluginProtocol } from "svc/sdk";
import { agentErrors } from "./errors.ts";
import { modelsEvents } from "./protocol/events/models.ts";
import { sessionsEvents } from "./protocol/events/sessions.ts";
import { servedMethods } from "./protocol/methods.ts";
import { agentsResults } from "./protocol/results/agents.ts";
import { modelsResults } from "./protocol/results/models.ts";
import { runsResults } from "./protocol/results/runs.ts";
import { sessionsResults } from "./protocol/results/sessions.ts";
import { systemResults } from "./protocol/results/system.ts";
import { toolsResults } from "./protocol/results/tools.ts";
import { tracesResults } from "./protocol/results/traces.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default {
  methods: servedMethods,
  results: { ...agentsResults, ...modelsResults, ...toolsResults, ...runsResults, ...sessionsResults, ...systemResults, ...tracesResults },
  events: { ...sessionsEvents, ...modelsEvents },
  errors: [agentErrors],
} satisfies PluginProtocol;
