import { wordVector } from "./embedding-vectors.ts";

type Part = { text?: unknown; inlineData?: { mimeType?: unknown; data?: unknown } };

/** One request for a vector, as it arrived. */
export interface GeminiContent {
  content?: { parts?: Part[] };
  taskType?: unknown;
  outputDimensionality?: unknown;
}

const secondGeneration = ["gemini-embedding-2", "gemini-embedding-2-preview"];
const tasks = ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"];

/** Reason for which the vendor would refuse the request; undefined: none. */
export function checkEmbed(
  model: string,
  asked: readonly GeminiContent[],
  { bytes, mimeTypes }: { bytes: number; mimeTypes: ReadonlySet<string> },
): { status: number; message: string } | undefined {
  if (model !== "gemini-embedding-001" && !secondGeneration.includes(model))
    return { status: 404, message: `models/${model} is not found` };
  if (bytes > 20_000_000) return { status: 413, message: "Request payload size exceeds the limit: 20000000 bytes." };
  const images = asked.flatMap((one) => one.content?.parts ?? []).filter((part) => String(part.inlineData?.mimeType).startsWith("image/"));
  if (images.length > 6) return { status: 400, message: "at most 6 images can be in one request" };
  for (const one of asked) {
    const message = problemOf(model, one, mimeTypes);
    if (message) return { status: 400, message };
  }
  return undefined;
}

function problemOf(
  model: string,
  { content, taskType, outputDimensionality: dims }: GeminiContent,
  mimeTypes: ReadonlySet<string>,
): string | undefined {
  const parts = content?.parts;
  if (!Array.isArray(parts) || parts.length === 0) return "content is required";
  const isSecond = secondGeneration.includes(model);
  if (taskType !== undefined && (!tasks.includes(String(taskType)) || model === "gemini-embedding-2"))
    return `invalid task_type ${taskType}`;
  const sizes = isSecond ? [768, 1536, 3072] : [];
  if (dims !== undefined && !sizes.includes(Number(dims))) return `invalid output_dimensionality ${dims}`;
  for (const { text, inlineData } of parts) {
    if (typeof text === "string") {
      if (text === "") return "content contains an empty Part";
      if (text.length > (isSecond ? 8_192 : 2_048) * 8) return "the input token count exceeds the maximum number of tokens allowed";
      continue;
    }
    if (!isSecond || !inlineData) return "unsupported Part";
    if (!mimeTypes.has(String(inlineData.mimeType))) return `Unsupported MIME type: ${inlineData.mimeType}`;
    const data = String(inlineData.data);
    if (data === "" || Buffer.from(data, "base64").toString("base64") !== data) return "Base64 decoding failed";
  }
  return undefined;
}

/** A vector for a request: of texts that share words near ones. Truncated sizes do not have length 1, as the vendor's. */
export function geminiVector(model: string, { content, outputDimensionality }: GeminiContent, dims = 3_072): number[] {
  const seed = (content?.parts ?? [])
    .map(({ text, inlineData }) => (typeof text === "string" ? text : `${model} ${inlineData?.data}`))
    .join(" ");
  const size = Number(outputDimensionality ?? dims);
  const vector = wordVector(seed, size);
  return size === 3_072 ? vector : vector.map((part) => part * 2.5);
}
