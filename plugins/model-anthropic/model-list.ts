import { type ModelInfo, type ModelInput, z } from "svc/sdk";
import { factsOf } from "./models.ts";

const supported = z.looseObject({ supported: z.boolean() }).optional().catch(undefined);
const size = z.number().int().positive().nullish().catch(undefined);
const listSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      display_name: z.string().optional().catch(undefined),
      max_input_tokens: size,
      max_tokens: size,
      capabilities: z.looseObject({ image_input: supported, pdf_input: supported, thinking: supported }).nullish().catch(undefined),
    }),
  ),
});

/** All of them: the vendor's pages have 20 unless another number is asked for. */
export const listPath = "/models?limit=1000";

/** Reads the vendor's list of models. What an entry does not tell about a Claude, its name does. @throws {ZodError} when it is no list */
export function readModels(body: unknown): ModelInfo[] {
  return listSchema.parse(body).data.map(({ id, display_name: name, max_input_tokens, max_tokens, capabilities }) => {
    const known = factsOf(id);
    const reasoning = capabilities?.thinking?.supported ?? known.reasoning;
    const image = capabilities?.image_input?.supported ?? known.input?.includes("image") ?? false;
    const pdf = capabilities?.pdf_input?.supported ?? known.input?.includes("pdf") ?? false;
    return {
      id,
      ...(name === undefined ? {} : { name }),
      ...(max_input_tokens ? { contextWindow: max_input_tokens } : {}),
      ...(max_tokens ? { maxTokens: max_tokens } : {}),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(known.input || capabilities?.image_input !== undefined ? { input: inputsOf(image, pdf) } : {}),
    };
  });
}

function inputsOf(image: boolean, pdf: boolean): ModelInput[] {
  return ["text", ...(image ? (["image"] as const) : []), ...(pdf ? (["pdf"] as const) : [])];
}
