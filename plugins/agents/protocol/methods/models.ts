import { methodSpec, z } from "svc/sdk";
import { agentId } from "./fields.ts";

/** `provider/model`, a bare id or an alias. */
const model = z.string().min(1).max(256);

/** Language models. */
export const modelsMethods = {
  "models.list": methodSpec(
    "read",
    "models of the available providers",
    z.strictObject({
      agentId: agentId.optional(),
      view: z.enum(["default", "configured", "all"]).optional(),
      provider: z.string().optional(),
    }),
  ),
  "models.status": methodSpec(
    "read",
    "providers, and the models that agents are answered by; with `probe` the servers are asked first, 5 s at most, and each once a minute",
    z.strictObject({ probe: z.boolean().optional() }),
  ),
  "models.test": methodSpec(
    "write",
    "asks one model for one word; without `model` the one that answers the agent. A fault is `ok: false` inside the answer",
    z.strictObject({
      model: model.optional(),
      agentId: agentId.optional(),
      timeoutMs: z.number().int().min(100).max(600_000).optional(),
    }),
  ),
  "models.set": methodSpec(
    "admin",
    "sets the model that answers by default, or that of one agent; `fallbacks` replaces the present ones, and without it they stay",
    z.strictObject({ model, agentId: agentId.optional(), fallbacks: z.array(model).max(16).optional() }),
  ),
} as const;
