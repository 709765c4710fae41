import { type ModelInfo, z } from "svc/sdk";
import { factsOf } from "./models.ts";

const size = z.number().int().positive().optional().catch(undefined);
const listSchema = z.looseObject({
  models: z.array(
    z.looseObject({
      name: z.string(),
      displayName: z.string().optional().catch(undefined),
      inputTokenLimit: size,
      outputTokenLimit: size,
      supportedGenerationMethods: z.array(z.string()).optional().catch(undefined),
      thinking: z.boolean().optional().catch(undefined),
    }),
  ),
});

/** All of them: the vendor's pages have 50 unless another number is asked for. */
export const listPath = "/models?pageSize=1000";

/** Reads the models of the vendor's list that write texts. @throws {ZodError} when it is none */
export function readModels(body: unknown): ModelInfo[] {
  return listSchema
    .parse(body)
    .models.filter(({ supportedGenerationMethods: methods }) => methods === undefined || methods.includes("generateContent"))
    .map(({ name, displayName, inputTokenLimit, outputTokenLimit, thinking }) => {
      const id = name.replace(/^models\//, "");
      const { input } = factsOf(id);
      return {
        id,
        ...(displayName === undefined ? {} : { name: displayName }),
        ...(inputTokenLimit ? { contextWindow: inputTokenLimit } : {}),
        ...(outputTokenLimit ? { maxTokens: outputTokenLimit } : {}),
        ...(thinking === undefined ? {} : { reasoning: thinking }),
        // The list does not tell.
        ...(input === undefined ? {} : { input }),
      };
    });
}
