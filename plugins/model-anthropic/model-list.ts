import { type ModelInfo, type ModelInput, z } from "svc/sdk";

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

/** Reads the vendor's list of models. @throws {ZodError} when it is none */
export function readModels(body: unknown): ModelInfo[] {
  return listSchema.parse(body).data.map(({ id, display_name: name, max_input_tokens, max_tokens, capabilities }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(max_input_tokens ? { contextWindow: max_input_tokens } : {}),
    ...(max_tokens ? { maxTokens: max_tokens } : {}),
    ...(capabilities?.thinking === undefined ? {} : { reasoning: capabilities.thinking.supported }),
    ...(capabilities?.image_input === undefined ? {} : { input: inputsOf(capabilities) }),
  }));
}

type Capability = { supported: boolean } | undefined;

function inputsOf({ image_input: image, pdf_input: pdf }: { image_input?: Capability; pdf_input?: Capability }): ModelInput[] {
  return ["text", ...(image?.supported ? (["image"] as const) : []), ...(pdf?.supported ? (["pdf"] as const) : [])];
}
