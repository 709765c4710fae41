import { z } from "zod";
import { agentId, none, sessionKey } from "./fields.ts";
import { method } from "./spec.ts";

/** Agents, their models and tools. */
export const agentsMethods = {
  "agent.identity.get": method(
    "read",
    "name and avatar of an agent",
    z.strictObject({ agentId: agentId.optional(), sessionKey: sessionKey.optional() }),
  ),
  "agents.list": method("read", "configured agents", none),
  "models.list": method(
    "read",
    "models of the available providers",
    z.strictObject({
      agentId: agentId.optional(),
      view: z.enum(["default", "configured", "all"]).optional(),
      provider: z.string().optional(),
    }),
  ),
} as const;
