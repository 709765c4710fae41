import { z } from "svc/sdk";

/** Schemas of the document by their names in it. */
export const named = z.registry<{ id: string }>();

/** Gives a schema its name in the document. */
export function name<T extends z.ZodType>(id: string, schema: T): T {
  named.add(schema, { id });
  return schema;
}

/** A JSON Schema, or any other object that is passed on as it is. */
export const anyObject = z.record(z.string(), z.unknown());

/** Fields that both APIs of chats have under the same names. */
export const sampling = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  parallel_tool_calls: z.boolean().nullish().describe("Passed on to the vendor, beside tools."),
};

export const effort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]);

export const agentModel = z
  .string()
  .describe(
    "An agent: `svc` and `svc/default` (the default one), `svc/<agentId>`, `svc:<agentId>` or `agent:<agentId>`. The answer repeats it.",
  );

export const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

export const error = name(
  "Error",
  z
    .object({
      error: z.object({
        message: z.string(),
        type: z.string(),
        param: z.string().nullable(),
        code: z
          .string()
          .nullable()
          .describe("Stable, such as `invalid_api_key`, `model_not_found`, `no_embedding_provider`, `dimensions_mismatch`."),
      }),
    })
    .describe("What went wrong."),
);
