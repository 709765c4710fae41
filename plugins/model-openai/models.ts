import { type ModelInfo, type ModelInput, z } from "svc/sdk";

type Facts = Omit<ModelInfo, "id">;

const withPictures: ModelInput[] = ["text", "image", "pdf"];
const textOnly: ModelInput[] = ["text"];
const reasoning = { reasoning: true, input: withPictures };
const plain = { reasoning: false, input: withPictures };

/**
 * Facts about families, the first that fits wins. The list of models (`GET /v1/models`) tells ids only. Sizes of GPT-5.4 and its Pro are those of the vendor's
 * page (developers.openai.com/api/docs/models/gpt-5.4). The others are not checked against the vendor's pages: they agree with LiteLLM's public table
 * (`model_prices_and_context_window.json`, July 2026), which gives GPT-5 its window without the answer and says that chat models reason; where rows of one
 * family differ there, the smaller number stands. Families whose sizes sources disagree about have none.
 */
const families: ReadonlyArray<readonly [RegExp, Facts]> = [
  [/^gpt-\d+(\.\d+)?-chat/, { ...plain, contextWindow: 128_000, maxTokens: 16_384 }],
  [/^gpt-5\.4(-pro)?(-\d{4}|$)/, { ...reasoning, contextWindow: 1_050_000, maxTokens: 128_000 }],
  [/^gpt-5(\.[1-4])?(-|$)/, { ...reasoning, contextWindow: 400_000, maxTokens: 128_000 }],
  [/^gpt-([5-9]|\d\d)(\.\d+)?(-|$)/, reasoning],
  [/^o\d+(-|$)/, { ...reasoning, contextWindow: 200_000, maxTokens: 100_000 }],
  [/^gpt-4\.1(-|$)/, { ...plain, contextWindow: 1_047_576, maxTokens: 32_768 }],
  [/^gpt-4o-2024-05-13$/, { ...plain, contextWindow: 128_000, maxTokens: 4_096 }],
  [/^gpt-4o(-|$)/, { ...plain, contextWindow: 128_000, maxTokens: 16_384 }],
  [/^gpt-3\.5-turbo(-|$)/, { reasoning: false, input: textOnly, contextWindow: 16_385, maxTokens: 4_096 }],
];

/** Ids of the vendor's list that answer no conversation. */
const otherUse =
  /embedding|moderation|whisper|transcribe|tts|audio|realtime|dall-e|image|sora|babbage|davinci|instruct|search|computer-use|deep-research/;

/** Returns what is known of a model by its id; a model of one's own (`ft:<base>:…`) is like its base. Pure. */
export function factsOf(id: string): Facts {
  const base = /^ft:([^:]+)/.exec(id)?.[1] ?? id;
  if (base.startsWith("o3-mini")) return { reasoning: true, input: textOnly, contextWindow: 200_000, maxTokens: 100_000 };
  return families.find(([pattern]) => pattern.test(base))?.[1] ?? {};
}

const listSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** The models of a list that answer conversations. @throws {ZodError} when it is no list */
export function readModels(body: unknown): ModelInfo[] {
  const { data } = listSchema.parse(body);
  return data.filter(({ id }) => !otherUse.test(id)).map(({ id }) => ({ ...factsOf(id), id }));
}
