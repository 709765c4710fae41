import { agentsMethods } from "./methods/agents.ts";
import { modelsMethods } from "./methods/models.ts";
import { runsMethods } from "./methods/runs.ts";
import { sessionsMethods } from "./methods/sessions.ts";
import { systemMethods } from "./methods/system.ts";
import { tracesMethods } from "./methods/traces.ts";

/** Methods of the protocol that this plugin serves. */
export const servedMethods = {
  ...agentsMethods,
  ...modelsMethods,
  ...runsMethods,
  ...sessionsMethods,
  ...systemMethods,
  ...tracesMethods,
} as const;
