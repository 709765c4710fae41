import { type FakeEmbeddings, type FakeOptions, type FakeVendor, sendJson, startFakeEmbeddings } from "./embedding-server.ts";
import { wordVector } from "./embedding-vectors.ts";

export interface FakeOllamaOptions extends FakeOptions {
  /** An old server: `/api/embed` is unknown, `/api/embeddings` gives vectors of any length. */
  legacy?: boolean;
  /** Models that were pulled. */
  models?: string[];
  /** A key is wanted, as from a proxy before the server. */
  isLocked?: boolean;
}

/** An Ollama server. */
export async function createFakeOllama(options: FakeOllamaOptions = {}): Promise<FakeEmbeddings> {
  const { legacy = false, models = ["nomic-embed-text"], dims = 768 } = options;
  const allowed = legacy ? ["model", "prompt", "keep_alive"] : ["model", "input", "truncate", "keep_alive", "dimensions"];
  const vendor: FakeVendor = {
    path: legacy ? "/api/embeddings" : "/api/embed",
    isAuthorized: ({ headers }, apiKey) =>
      headers.authorization === undefined ? !options.isLocked : headers.authorization === `Bearer ${apiKey}`,
    errorBody: ({ message }) => ({ error: message }),
    route({ path }, res) {
      if (path === vendor.path || !path.startsWith("/api/embed")) return false;
      res.writeHead(404, { "content-type": "text/plain" }).end("404 page not found");
      return true;
    },
    embed({ body }) {
      const request = body as { model: string; input?: unknown; prompt?: unknown; dimensions?: number };
      const unknown = Object.keys(request).find((key) => !allowed.includes(key));
      if (unknown) return { status: 400, message: `unknown field ${unknown}` };
      if (!models.includes(request.model.replace(/:latest$/, "")))
        return { status: 404, message: `model "${request.model}" not found, try pulling it first` };
      if (legacy) {
        const vectors = [wordVector(String(request.prompt), dims).map((value) => value * 7)];
        return { vectors, toBody: ([embedding = []]) => ({ embedding }) };
      }
      if (!Array.isArray(request.input) || request.input.some((text) => typeof text !== "string"))
        return { status: 400, message: "invalid input type" };
      const vectors = request.input.map((text: string) => wordVector(text, request.dimensions ?? dims));
      return {
        vectors,
        toBody: (embeddings) => ({
          model: request.model,
          embeddings,
          total_duration: 1,
          load_duration: 1,
          prompt_eval_count: embeddings.length * 5,
        }),
      };
    },
  };
  return startFakeEmbeddings(vendor, options);
}

/** An address where something else than Ollama answers. */
export async function createFakeOtherServer(): Promise<FakeEmbeddings> {
  return startFakeEmbeddings({
    path: "/nothing",
    isAuthorized: () => true,
    embed: () => ({ status: 404, message: "nothing" }),
    route(_request, res) {
      sendJson(res, 404, { detail: "Not Found" });
      return true;
    },
  });
}
