import {
  type EmbedAnswer,
  EmbeddingError,
  type EmbeddingFault,
  type EmbedRequest,
  isRecord,
  type RemoteEndpoint,
  readVector,
  type VendorHttp,
} from "svc/sdk";

const ADAPTER = "ollama";
/** The server unloads a model that nobody used for so long; this is its own default, said so that a setting of the server does not unload it between two files. */
const KEEP_ALIVE = "5m";
const MAX_REMEMBERED = 64;

/** Route that a server has, by base address. */
export type KnownRoutes = Map<string, "current" | "legacy">;

/** One model on one server. */
export interface RouteOptions {
  http: VendorHttp;
  endpoint: RemoteEndpoint;
  model: string;
  dimensions: number | undefined;
  prefix: { query: string; document: string };
  known: KnownRoutes;
}

/** Classifies a 404: of this server's two kinds only one is about the model. */
export function faultOf(status: number, body: string): EmbeddingFault | undefined {
  return status === 404 && !isModelMissing(body) ? "invalid-request" : undefined;
}

function isModelMissing(body: string): boolean {
  const at = body.search(/\bmodel\b/i);
  return (at >= 0 && /\bnot found\b/i.test(body.slice(at))) || /\bpull/i.test(body);
}

/** Asks by `/api/embed`; a server too old for it by `/api/embeddings`, one text at a time. */
export function createRoutes(options: RouteOptions): (request: EmbedRequest) => Promise<EmbedAnswer> {
  const { endpoint, known } = options;
  return async (request) => {
    if (known.get(endpoint.baseUrl) === "legacy") return askLegacy(options, request);
    try {
      const answer = await askCurrent(options, request);
      remember(known, endpoint.baseUrl, "current");
      return answer;
    } catch (error) {
      if (!isRouteMissing(error) || known.get(endpoint.baseUrl) === "current") throw explained(error, options.model);
      const answer = await askLegacy(options, request);
      remember(known, endpoint.baseUrl, "legacy");
      return answer;
    }
  };
}

function remember(known: KnownRoutes, baseUrl: string, route: "current" | "legacy"): void {
  if (known.size >= MAX_REMEMBERED && !known.has(baseUrl)) known.clear();
  known.set(baseUrl, route);
}

async function askCurrent({ http, endpoint, model, dimensions, prefix }: RouteOptions, request: EmbedRequest): Promise<EmbedAnswer> {
  const { texts, kind, timeoutMs, signal } = request;
  const input = texts.map((text) => prefix[kind] + text);
  const json = { model, input, truncate: true, keep_alive: KEEP_ALIVE, ...(dimensions === undefined ? {} : { dimensions }) };
  const answer = await http.json({ url: `${endpoint.baseUrl}/api/embed`, headers: endpoint.headers, json, timeoutMs, signal });
  if (!isRecord(answer) || !Array.isArray(answer.embeddings)) throw withoutVectors();
  const { prompt_eval_count: tokens } = answer;
  return { vectors: answer.embeddings.map(readVector), tokens: typeof tokens === "number" ? tokens : undefined };
}

async function askLegacy({ http, endpoint, model, prefix }: RouteOptions, request: EmbedRequest): Promise<EmbedAnswer> {
  const { texts, kind, timeoutMs, signal } = request;
  const vectors: EmbedAnswer["vectors"][number][] = [];
  for (const text of texts) {
    const json = { model, prompt: prefix[kind] + text, keep_alive: KEEP_ALIVE };
    const url = `${endpoint.baseUrl}/api/embeddings`;
    const answer = await http.json({ url, headers: endpoint.headers, json, timeoutMs, signal }).catch((error: unknown) => {
      throw explained(error, model);
    });
    if (!isRecord(answer)) throw withoutVectors();
    vectors.push(readVector(answer.embedding));
  }
  return { vectors };
}

function withoutVectors(): EmbeddingError {
  return new EmbeddingError("bad-response", `embedding adapter "${ADAPTER}": the answer has no list of vectors`);
}

function isRouteMissing(error: unknown): boolean {
  return error instanceof EmbeddingError && error.status === 404 && error.fault === "invalid-request";
}

/** A 404 in words that say what to do. */
function explained(error: unknown, model: string): unknown {
  if (!(error instanceof EmbeddingError) || error.status !== 404) return error;
  const what = isRouteMissing(error)
    ? "the address has no embeddings route; check baseUrl"
    : `the model "${model}" is not on the server; run "ollama pull ${model}" there`;
  return new EmbeddingError("model", `embedding adapter "${ADAPTER}": ${what}`, { status: 404 });
}
