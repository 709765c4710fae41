import { wordVector } from "./embedding-vectors.ts";

type Body = Record<string, unknown>;

/** Why the vendor would refuse a body, or undefined. Written from the vendor's parameter pages, on purpose not from the adapter. */
export function bodyProblem(modelId: string, body: Body): string | undefined {
  if (/titan-embed-text-v2/.test(modelId)) {
    if (body.dimensions !== undefined && ![256, 512, 1024].includes(body.dimensions as number))
      return "dimensions is not one of 256, 512, 1024";
    return keysProblem(body, ["inputText", "dimensions", "normalize"]) ?? textProblem(body.inputText, 50_000);
  }
  if (/titan/.test(modelId)) return keysProblem(body, ["inputText"]) ?? textProblem(body.inputText, 50_000);
  if (/nova/.test(modelId)) return novaProblem(body);
  if (/cohere/.test(modelId)) return cohereProblem(modelId, body);
  if (/twelvelabs/.test(modelId)) {
    if (body.inputType !== "text") return "inputType is not text";
    return textProblem(modelId.includes("2-7") ? body.inputText : (body.text as Body | undefined)?.inputText, 5_000);
  }
  return keysProblem(body, ["inputText"]) ?? textProblem(body.inputText, 50_000);
}

function novaProblem(body: Body): string | undefined {
  const params = (body.singleEmbeddingParams ?? {}) as Body;
  const text = (params.text ?? {}) as Body;
  if (body.schemaVersion !== "nova-multimodal-embed-v1" || body.taskType !== "SINGLE_EMBEDDING") return "schemaVersion or taskType";
  if (!["GENERIC_INDEX", "TEXT_RETRIEVAL"].includes(String(params.embeddingPurpose))) return "embeddingPurpose";
  if (![undefined, 256, 384, 1024, 3072].includes(params.embeddingDimension as number)) return "embeddingDimension";
  return text.truncationMode === "END" ? textProblem(text.value, 50_000) : "truncationMode";
}

function cohereProblem(modelId: string, body: Body): string | undefined {
  const isV4 = modelId.includes("v4");
  const keys = ["texts", "input_type", "truncate", ...(isV4 ? ["embedding_types", "output_dimension"] : [])];
  const texts = body.texts;
  if (!Array.isArray(texts) || texts.length === 0) return "texts: expected minItems: 1";
  if (texts.length > 96) return `texts: expected maxItems: 96, actual: ${texts.length}`;
  if (!["search_document", "search_query"].includes(String(body.input_type))) return "input_type";
  if (isV4 && JSON.stringify(body.embedding_types) !== '["float"]') return "embedding_types";
  return keysProblem(body, keys) ?? texts.map((text) => textProblem(text, isV4 ? 500_000 : 2_048)).find((problem) => problem !== undefined);
}

function keysProblem(body: Body, known: string[]): string | undefined {
  const extra = Object.keys(body).filter((key) => !known.includes(key));
  return extra.length === 0 ? undefined : `extraneous key [${extra.join()}] is not permitted`;
}

function textProblem(text: unknown, maxChars: number): string | undefined {
  if (typeof text !== "string") return "expected type: String";
  if (text.length === 0) return "expected minLength: 1, actual: 0";
  return text.length > maxChars ? `expected maxLength: ${maxChars}, actual: ${text.length}` : undefined;
}

/** Length of the vectors that the vendor would answer with. */
export function dimsOf(modelId: string, body: Body): number {
  const asked = body.dimensions ?? body.output_dimension ?? (body.singleEmbeddingParams as Body | undefined)?.embeddingDimension;
  if (typeof asked === "number") return asked;
  if (/nova/.test(modelId)) return 3072;
  if (/titan-embed-(text-v1|g1)|embed-v4/.test(modelId)) return 1536;
  return modelId.includes("marengo-embed-3") ? 512 : 1024;
}

/** The answer in the shape of the model's family. `isShort`: one vector is missing. */
export function answerFor(
  modelId: string,
  { body, dims, isShort }: { body: Body; dims: number; isShort: boolean },
): { answer: Body; tokens: number } {
  const texts = textsOf(body);
  const tokens = texts.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
  // Not of length 1, as a careless vendor's.
  const vectors = texts.map((text) => wordVector(text, dims).map((part) => part * 7)).slice(isShort ? 1 : 0);
  return { answer: shaped(modelId, vectors, tokens), tokens };
}

function shaped(modelId: string, vectors: number[][], tokens: number): Body {
  const [first] = vectors;
  if (modelId.includes("cohere")) return { id: "1", embeddings: modelId.includes("v4") ? { float: vectors } : vectors };
  if (modelId.includes("nova")) return { embeddings: first ? [{ embeddingType: "TEXT", embedding: first }] : [] };
  if (modelId.includes("twelvelabs")) return { data: first ? [{ embedding: first, embeddingOption: "visual-text" }] : [] };
  return { ...(first ? { embedding: first } : {}), inputTextTokenCount: tokens };
}

function textsOf(body: Body): string[] {
  if (Array.isArray(body.texts)) return body.texts as string[];
  const nova = (body.singleEmbeddingParams as Body | undefined)?.text as Body | undefined;
  return [String(body.inputText ?? nova?.value ?? (body.text as Body | undefined)?.inputText)];
}
