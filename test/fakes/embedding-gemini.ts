import {
  type FakeEmbeddings,
  type FakeOptions,
  type FakeVendor,
  type RecordedEmbedding,
  startFakeEmbeddings,
  type Vectors,
} from "./embedding-server.ts";
import { createGeminiJobs, type GeminiJobs } from "./gemini-jobs.ts";
import { checkEmbed, type GeminiContent, geminiVector } from "./gemini-models.ts";

export interface FakeGemini extends FakeEmbeddings {
  /** MIME types of media that are taken; others are refused with 400. */
  mimeTypes: Set<string>;
  /** Batch jobs and their files. */
  jobs: GeminiJobs;
}

const path = /^\/v1beta\/models\/([^/:]+):(embedContent|batchEmbedContents)$/;

/**
 * A loopback server that speaks the embedding part of the Gemini API, under `url` with `/v1beta`: it checks key, shapes and limits. Scripted errors have the
 * vendor's form; their `code` may be `API_KEY_INVALID`, `RetryInfo` or `PerDay`, which then stands in the details.
 */
export async function createFakeGeminiEmbeddings(options: FakeOptions = {}): Promise<FakeGemini> {
  const mimeTypes = new Set(["image/png", "image/jpeg", "audio/mpeg", "audio/wav"]);
  const apiKey = options.apiKey ?? "AIzaFakeGemini0123456789abcdef0123456";
  const jobs = createGeminiJobs();
  const vendor: FakeVendor = {
    path,
    isAuthorized: () => true,
    errorBody: errorBody,
    route(request, res) {
      const refused = keyProblem(request, apiKey);
      if (!refused) return jobs.answer(request, res);
      res.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(errorBody(refused)));
      return true;
    },
    embed: (request) => answer(request, { mimeTypes, dims: options.dims }),
  };
  const server = await startFakeEmbeddings(vendor, { ...options, apiKey });
  return { ...server, url: `${server.url}/v1beta`, mimeTypes, jobs };
}

function answer(
  request: RecordedEmbedding,
  { mimeTypes, dims }: { mimeTypes: ReadonlySet<string>; dims: number | undefined },
): Vectors | Problem {
  const [, model = "", method] = path.exec(request.path) ?? [];
  const asked = askedFor(request.body, { model, isOne: method === "embedContent" });
  if (typeof asked === "string") return { status: 400, message: asked };
  const problem = checkEmbed(model, asked, { bytes: Number(request.headers["content-length"]), mimeTypes });
  if (problem) return problem;
  return {
    vectors: asked.map((one) => geminiVector(model, one, dims)),
    toBody(vectors) {
      const embeddings = vectors.map((values) => ({ values }));
      const usageMetadata = { promptTokenCount: JSON.stringify(asked).length >> 2 };
      return method === "embedContent" ? { embedding: embeddings[0], usageMetadata } : { embeddings, usageMetadata };
    },
  };
}

interface Problem {
  status: number;
  message: string;
  code?: string | undefined;
}

/** The requests of one call, or what is wrong with it. */
function askedFor(body: unknown, { model, isOne }: { model: string; isOne: boolean }): GeminiContent[] | string {
  if (typeof body !== "object" || body === null || Buffer.isBuffer(body)) return "a JSON body is required";
  if (isOne) return [body as GeminiContent];
  const { requests } = body as { requests?: Array<GeminiContent & { model?: string }> };
  if (!Array.isArray(requests) || requests.length === 0) return "* BatchEmbedContentsRequest.requests: at least one request is required";
  if (requests.length > 100) return "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch";
  const foreign = requests.findIndex((one) => one.model !== `models/${model}`);
  return foreign < 0 ? requests : `* BatchEmbedContentsRequest.requests[${foreign}].model: unexpected model name format`;
}

/** As careless servers do, it repeats what it was shown. */
function keyProblem({ headers, headerNames }: RecordedEmbedding, apiKey: string): Problem | undefined {
  const count = headerNames.filter((name) => name === "x-goog-api-key").length;
  if (count === 1 && headers["x-goog-api-key"] === apiKey && headers.authorization === undefined) return undefined;
  const message = `API key not valid. Please pass a valid API key. Got ${count}: ${headers["x-goog-api-key"]}`;
  return { status: 400, message, code: "API_KEY_INVALID" };
}

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

function errorBody({ status, message, code }: Problem): object {
  const details = code === undefined ? {} : { details: [detailOf(code)] };
  return { error: { code: status, message, status: statusNames[status] ?? "UNKNOWN", ...details } };
}

function detailOf(code: string): object {
  const type = (name: string) => ({ "@type": `type.googleapis.com/google.rpc.${name}` });
  if (code === "RetryInfo") return { ...type("RetryInfo"), retryDelay: "12s" };
  if (code === "PerDay") return { ...type("QuotaFailure"), violations: [{ quotaId: "EmbedContentRequestsPerDayPerProjectPerModel" }] };
  return { ...type("ErrorInfo"), reason: code, domain: "googleapis.com" };
}
