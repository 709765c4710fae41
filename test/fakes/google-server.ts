import { checkGenerate, type GenerateRequest } from "./google-checks.ts";
import { chunksOf, type GoogleScript, scriptFor } from "./google-scripts.ts";
import { type ModelServer, type ModelServerAnswer, type ModelServerRequest, startModelServer } from "./model-server.ts";

export interface FakeGoogle extends ModelServer {
  /** Base address, with `/v1beta`. */
  baseUrl: string;
  apiKey: string;
}

/**
 * A loopback server that speaks the API of Gemini: checks path, key, schemas and the whole conversation, records, and acts by what stands behind the tilde in the
 * name of the model (`google-scripts.ts`). Parts with calls must come back as they went out.
 */
export async function startFakeGoogle(options: { seed?: number } = {}): Promise<FakeGoogle> {
  const apiKey = "AIzaFake-0123456789abcdef";
  const issued = new Map<string, object>();
  const attempts = new Map<string, number>();

  function reply(request: ModelServerRequest): ModelServerAnswer {
    if (request.headers["x-goog-api-key"] !== apiKey)
      return toReply(scriptFor({ contents: [] }, { model: "~http~API_KEY_INVALID", attempt: 1 }));
    if (request.method === "GET" && request.path === "/v1beta/models?pageSize=1000") return { kind: "json", status: 200, body: modelList };
    const [, model] = /^\/v1beta\/models\/([^/:?]+):streamGenerateContent\?alt=sse$/.exec(request.path) ?? [];
    if (request.method !== "POST" || model === undefined) return failure(404, "NOT_FOUND", "Requested entity was not found.");
    if (!request.headers["content-type"]?.startsWith("application/json")) return failure(400, "INVALID_ARGUMENT", "send JSON");
    const problem = checkGenerate(request.body, issued);
    if (problem !== undefined) return failure(400, "INVALID_ARGUMENT", problem);
    const attempt = (attempts.get(model) ?? 0) + 1;
    attempts.set(model, attempt);
    const script = scriptFor(request.body as GenerateRequest, { model: decodeURIComponent(model), attempt });
    if ("parts" in script) for (const part of script.parts) if (part.functionCall) issued.set(part.functionCall.id, part);
    return toReply(script);
  }

  const server = await startModelServer(reply, options.seed);
  return { ...server, baseUrl: `${server.origin}/v1beta`, apiKey };
}

function toReply(script: GoogleScript): ModelServerAnswer {
  if ("error" in script) return { kind: "json", status: script.error.code, body: { error: script.error } };
  const all = chunksOf(script).map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`);
  const frames = all.slice(0, script.chunks ?? all.length);
  return { kind: "stream", type: "text/event-stream", frames, ...(script.end === undefined ? {} : { end: script.end }) };
}

function failure(code: number, status: string, message: string): ModelServerAnswer {
  return { kind: "json", status: code, body: { error: { code, message, status } } };
}

const modelList = {
  models: [
    {
      ...{ name: "models/gemini-flash-latest", displayName: "Gemini Flash", inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 },
      ...{ supportedGenerationMethods: ["generateContent", "countTokens"], thinking: true },
    },
    { name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] },
    { name: "models/gemma-3-4b-it", supportedGenerationMethods: ["generateContent"] },
  ],
};
