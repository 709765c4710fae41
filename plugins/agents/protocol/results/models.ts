import { z } from "svc/sdk";
import { agentId, count, durationMs, epochMs, usage } from "./fields.ts";

const text = z.string();

const model = z.object({
  id: text,
  name: text,
  provider: text,
  alias: text.exactOptional(),
  tags: z.array(text).exactOptional(),
  available: z.boolean().exactOptional(),
  unavailableReason: z.enum(["missing-auth", "auth-failed", "cooldown"]).exactOptional(),
  contextWindow: count.exactOptional(),
  reasoning: z.boolean().exactOptional(),
  input: z.array(text).exactOptional(),
});

const skipped = z
  .array(z.object({ provider: text, reason: text }))
  .describe("providers that are configured or have a plugin and cannot be used, and why");

const why = {
  reason: text.exactOptional().describe("why it is not ready"),
  until: epochMs.exactOptional().describe("when one that rests after failures is tried again"),
};

const providerState = z.enum(["ready", "unavailable", "key-rejected", "unreachable", "cooldown"]);

const choice = z.object({
  provider: text.describe("empty where nobody is known to offer it"),
  model: text,
  state: z
    .enum([...providerState.options, "embedded", "unknown", "none"])
    .describe("`embedded`: comes with svc and is no language model; `none`: no plugin offers a model"),
  ...why,
});

const chosen = z.object({ primary: text, fallbacks: z.array(text) });

/** Answers about language models. */
export const modelsResults = {
  "models.list": z.object({ models: z.array(model), skipped: skipped.exactOptional() }),
  "models.status": z.object({
    agents: z.array(
      z.object({
        agentId,
        isDefault: z.boolean(),
        setBy: text.exactOptional().describe("config key that names its models; absent: the first provider that is ready answers"),
        models: z.array(choice).describe("in the order in which they are tried"),
      }),
    ),
    providers: z.array(
      z.object({
        id: text,
        name: text.exactOptional(),
        state: providerState,
        ...why,
        keySource: text.exactOptional().describe("config key or variable that its key comes from"),
        defaultModel: text.exactOptional(),
        isConfigured: z.boolean().describe("has an entry in `models.providers`"),
      }),
    ),
    skipped,
  }),
  "models.test": z.discriminatedUnion("ok", [
    z.object({
      ok: z.literal(true),
      provider: text,
      model: text,
      latencyMs: durationMs.describe("to the end of the answer"),
      text: text.describe("the answer, 200 characters at most"),
      usage,
    }),
    z.object({
      ok: z.literal(false),
      provider: text,
      model: text,
      latencyMs: durationMs,
      fault: text.describe("class of the fault, as `auth` or `network`; `no-model`: there is no language model to ask"),
      error: text,
      httpStatus: count.exactOptional(),
      retryAfterMs: durationMs.exactOptional(),
    }),
  ]),
  "models.set": z.object({
    ok: z.literal(true),
    path: text.describe("config key that was set"),
    model: chosen,
    agents: z.array(agentId).describe("agents that are answered by it from now on"),
    ownModels: z.array(agentId).describe("agents that keep a model of their own"),
    restartRequired: z
      .literal(true)
      .exactOptional()
      .describe("it is written down, and in force after a restart that another change waits for"),
  }),
};
