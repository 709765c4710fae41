import { createFakeBatches, type FakeBatches } from "./embedding-batches.ts";
import { type FakeEmbeddings, type FakeOptions, type FakeVendor, startFakeEmbeddings, type Vectors } from "./embedding-server.ts";
import { toBase64, wordVector } from "./embedding-vectors.ts";

/** Requests that a vendor of this shape accepts. */
interface Rules {
  /** Keys of the request besides `model` and `input`, each with what is wrong with a value. */
  keys: Readonly<Record<string, (value: unknown, model: unknown) => string | undefined>>;
  required?: readonly string[];
  maxItems: number;
  tooMany: string;
  /** A longer text is refused; unset: it is cut. About four characters make a token. */
  maxInputTokens?: number;
  maxTokens?: number;
  sizeKey?: string;
}

interface EmbeddingsBody {
  model: string;
  input: string[];
  encoding_format?: string;
  [key: string]: unknown;
}

const oneOf =
  (...values: unknown[]) =>
  (value: unknown) =>
    values.includes(value) ? undefined : `expected one of ${values.join(", ")}`;
const isSize = (value: unknown) => (Number.isInteger(value) && (value as number) > 0 ? undefined : "expected a size");

const openAi: Rules = {
  keys: {
    encoding_format: oneOf("float", "base64"),
    dimensions: (value, model) => (String(model).startsWith("text-embedding-3-") ? isSize(value) : "this model has no dimensions"),
  },
  maxItems: 2_048,
  tooMany: "expected an array of at most 2048 items",
  maxInputTokens: 8_192,
  maxTokens: 300_000,
  sizeKey: "dimensions",
};

const mistral: Rules = {
  keys: { output_dimension: (value, model) => (model === "codestral-embed" ? isSize(value) : "this model has no output_dimension") },
  maxItems: 256,
  tooMany: "Too many inputs in request, split into more batches.",
  maxInputTokens: 8_192,
  sizeKey: "output_dimension",
};

const voyage: Rules = {
  keys: {
    input_type: oneOf("query", "document"),
    truncation: oneOf(true, false),
    encoding_format: oneOf("base64"),
    output_dimension: oneOf(256, 512, 1_024, 2_048),
  },
  required: ["input_type"],
  maxItems: 1_000,
  tooMany: "The batch size limit is 1000",
  maxTokens: 120_000,
  sizeKey: "output_dimension",
};

/** A vendor of this shape that has a batch API besides. */
export interface FakeOpenAiEmbeddings extends FakeEmbeddings {
  batches: FakeBatches;
}

/**
 * The vendor that brought the shape. `plain`: a server of the same protocol that knows floats only and leaves `index` away; `inputTypes`: one that wants an
 * `input_type` out of these.
 */
export async function createFakeOpenAiEmbeddings(
  options: FakeOptions & { plain?: boolean; inputTypes?: readonly string[] } = {},
): Promise<FakeOpenAiEmbeddings> {
  const { inputTypes, ...rest } = options;
  const typed = inputTypes && { ...openAi, keys: { ...openAi.keys, input_type: oneOf(...inputTypes) }, required: ["input_type"] };
  return start(typed ?? openAi, { dims: 1_536, batchLine: "openai", ...rest });
}

/** Mistral: floats, 256 texts a request. */
export async function createFakeMistralEmbeddings(options: FakeOptions = {}): Promise<FakeEmbeddings> {
  return start(mistral, { dims: 1_024, batchLine: "openai", ...options });
}

/** Voyage: `input_type` is wanted. */
export async function createFakeVoyageEmbeddings(options: FakeOptions = {}): Promise<FakeOpenAiEmbeddings> {
  return start(voyage, { dims: 1_024, batchLine: "voyage", ...options });
}

interface StartOptions extends FakeOptions {
  dims: number;
  plain?: boolean;
  batchLine: "openai" | "voyage";
}

async function start(rules: Rules, options: StartOptions): Promise<FakeOpenAiEmbeddings> {
  const batches = createFakeBatches(options.batchLine, options.dims);
  const vendor: FakeVendor = {
    path: "/v1/embeddings",
    route: batches.route,
    embed(request) {
      const problem = problemOf(request.body, rules);
      if (problem) return { status: 400, message: problem };
      return answer(request.body as EmbeddingsBody, rules, options);
    },
  };
  const server = await startFakeEmbeddings(vendor, options);
  return { ...server, url: `${server.url}/v1`, batches };
}

function problemOf(body: unknown, rules: Rules): string | undefined {
  if (typeof body !== "object" || body === null) return "you must send JSON";
  const { model, input, ...rest } = body as EmbeddingsBody;
  if (typeof model !== "string" || model.includes("/")) return `unknown model ${String(model)}`;
  if (!Array.isArray(input) || input.length === 0) return "'input': expected a list";
  if (input.some((text) => typeof text !== "string" || text === "")) return "'input' cannot be an empty string";
  if (input.length > rules.maxItems) return rules.tooMany;
  const tokens = input.map((text) => Math.ceil(text.length / 4));
  if (Math.max(...tokens) > (rules.maxInputTokens ?? Number.POSITIVE_INFINITY))
    return `This model's maximum context length is ${rules.maxInputTokens} tokens, however you requested ${Math.max(...tokens)}`;
  if (tokens.reduce((sum, count) => sum + count, 0) > (rules.maxTokens ?? Number.POSITIVE_INFINITY))
    return `max ${rules.maxTokens} tokens per request`;
  for (const key of rules.required ?? []) if (!(key in rest)) return `'${key}' is missing`;
  for (const [key, value] of Object.entries(rest)) {
    const problem = rules.keys[key] ? rules.keys[key](value, model) : "unknown parameter";
    if (problem) return `'${key}': ${problem}`;
  }
  return undefined;
}

function answer(body: EmbeddingsBody, rules: Rules, { dims, plain }: StartOptions): Vectors {
  const size = (rules.sizeKey === undefined ? undefined : (body[rules.sizeKey] as number | undefined)) ?? dims;
  const isBase64 = body.encoding_format === "base64" && !plain;
  const tokens = body.input.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  return {
    vectors: body.input.map((text) => wordVector(text, size)),
    toBody: (vectors) => ({
      object: "list",
      data: vectors.map((vector, index) => ({
        object: "embedding",
        ...(plain ? {} : { index }),
        embedding: isBase64 ? toBase64(vector) : vector,
      })),
      model: body.model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    }),
  };
}
