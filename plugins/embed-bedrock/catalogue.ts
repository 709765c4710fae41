/** Shape of request and answer that models share. */
export type Family = "titan-v2" | "titan-v1" | "nova" | "cohere-v3" | "cohere-v4" | "twelvelabs";

/** Facts known about a model before its first answer. */
export interface ModelFacts {
  family: Family;
  /** Length of its vectors unless another one is chosen; unknown for a model that is not in the catalogue. */
  dims?: number;
  /** Lengths on offer; none: it cannot be chosen. */
  selectable: readonly number[];
  maxInputTokens?: number;
}

export const DEFAULT_MODEL = "amazon.titan-embed-text-v2:0";

/** Text embedding models of the vendor's user guide ("Supported foundation models in Amazon Bedrock" and the parameter page of each family). */
const catalogue: ReadonlyMap<string, ModelFacts> = new Map<string, ModelFacts>([
  [DEFAULT_MODEL, { family: "titan-v2", dims: 1024, selectable: [256, 512, 1024], maxInputTokens: 8_192 }],
  ["amazon.titan-embed-text-v1", { family: "titan-v1", dims: 1536, selectable: [], maxInputTokens: 8_000 }],
  ["amazon.titan-embed-g1-text-02", { family: "titan-v1", dims: 1536, selectable: [], maxInputTokens: 8_000 }],
  ["amazon.titan-embed-image-v1", { family: "titan-v1", dims: 1024, selectable: [], maxInputTokens: 128 }],
  ["amazon.nova-2-multimodal-embeddings-v1:0", { family: "nova", dims: 1024, selectable: [256, 384, 1024, 3072], maxInputTokens: 8_192 }],
  ["cohere.embed-english-v3", { family: "cohere-v3", dims: 1024, selectable: [], maxInputTokens: 512 }],
  ["cohere.embed-multilingual-v3", { family: "cohere-v3", dims: 1024, selectable: [], maxInputTokens: 512 }],
  ["cohere.embed-v4:0", { family: "cohere-v4", dims: 1536, selectable: [256, 384, 512, 768, 1024, 1536], maxInputTokens: 128_000 }],
  ["twelvelabs.marengo-embed-2-7-v1:0", { family: "twelvelabs", dims: 1024, selectable: [], maxInputTokens: 512 }],
  ["twelvelabs.marengo-embed-3-0-v1:0", { family: "twelvelabs", dims: 512, selectable: [], maxInputTokens: 512 }],
]);

/** First match decides for ids that are not in the catalogue; what matches none is taken for the oldest shape. */
const families: ReadonlyArray<readonly [prefix: string, family: Family]> = [
  ["amazon.titan-embed-text-v2", "titan-v2"],
  ["amazon.titan-embed", "titan-v1"],
  ["amazon.nova", "nova"],
  ["cohere.embed-v4", "cohere-v4"],
  ["cohere.embed", "cohere-v3"],
  ["twelvelabs.", "twelvelabs"],
];

/** Regions an inference profile routes to, in front of the model's own id. */
const profilePrefix = /^(?:us|eu|ap|apac|au|jp|global)\./;

/** Facts of a model by its id: as it is, without the prefix of an inference profile, without suffixes of throughput; ARNs by their last part. Pure. */
export function factsOf(modelId: string): ModelFacts {
  const id = modelId.slice(modelId.lastIndexOf("/") + 1);
  const plain = id.replace(profilePrefix, "");
  const known = catalogue.get(id) ?? catalogue.get(plain) ?? withoutSuffix(id) ?? withoutSuffix(plain);
  if (known) return known;
  return { family: families.find(([prefix]) => plain.startsWith(prefix))?.[1] ?? "titan-v1", selectable: [] };
}

/** `amazon.titan-embed-text-v1:2:8k` is `amazon.titan-embed-text-v1` with another throughput. */
function withoutSuffix(id: string): ModelFacts | undefined {
  for (let end = id.lastIndexOf(":"); end > 0; end = id.lastIndexOf(":", end - 1)) {
    const known = catalogue.get(id.slice(0, end));
    if (known) return known;
  }
  return undefined;
}
