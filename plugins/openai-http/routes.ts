import type { Disposable, PluginContext } from "svc/sdk";
import type { createReplays } from "svc/sdk/internal";
import { createChatHandler } from "./chat.ts";
import { createEmbeddingsHandler } from "./embeddings.ts";
import { errorResponse, toProblem } from "./error-body.ts";
import { createModels } from "./models.ts";
import { createDocumentHandler } from "./openapi/route.ts";
import type { PdfReader } from "./pdf/reader.ts";
import type { EarlierResponses } from "./responses/earlier.ts";
import { createResponsesHandler } from "./responses/handler.ts";
import { createToolsHandler } from "./tools-invoke/handler.ts";

/** Maximum size of a request body of `/tools/invoke`. */
const MAX_TOOL_BODY_BYTES = 2 * 1024 * 1024;

/** State that outlives the routes. */
interface RouteDeps {
  replays: ReturnType<typeof createReplays>;
  pdf: PdfReader;
  earlier: EarlierResponses;
}

/** The routes of the endpoints that are on. */
export function openRoutes(ctx: PluginContext<unknown>, { replays, pdf, earlier }: RouteDeps): Disposable[] {
  const { endpoints, maxBodyBytes } = ctx.snapshot().gateway.http;
  const common = { auth: "gateway", onError: (fault: Parameters<typeof toProblem>[0]) => errorResponse(toProblem(fault)) } as const;
  const routes: Disposable[] = [];
  const document = { ...common, method: "GET", path: "/openapi.json", match: "exact", scope: "operator.read" } as const;
  routes.push(
    ctx.registerHttpRoute({ ...document, handler: createDocumentHandler(ctx.root, () => ctx.snapshot().gateway.http.endpoints) }),
  );
  if (endpoints.models.enabled) {
    const models = createModels(() => ctx.snapshot());
    const route = { ...common, method: "GET", path: "/v1/models", scope: "operator.read" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, match: "exact", handler: models.list }));
    routes.push(ctx.registerHttpRoute({ ...route, match: "prefix", handler: models.get }));
  }
  if (endpoints.embeddings.enabled) {
    const route = { ...common, method: "POST", path: "/v1/embeddings", match: "exact", scope: "operator.write" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes, handler: createEmbeddingsHandler(ctx as PluginContext) }));
  }
  if (endpoints.responses.enabled) {
    const route = { ...common, method: "POST", path: "/v1/responses", match: "exact", scope: "operator.write" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes, handler: createResponsesHandler(ctx as PluginContext, { pdf, earlier }) }));
  }
  if (endpoints.toolsInvoke.enabled) {
    const route = { ...common, method: "POST", path: "/tools/invoke", match: "exact", scope: "operator.write" } as const;
    const maxBytes = Math.min(maxBodyBytes, MAX_TOOL_BODY_BYTES);
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes: maxBytes, handler: createToolsHandler(ctx as PluginContext, replays) }));
  }
  if (endpoints.chatCompletions.enabled) {
    const route = { ...common, method: "POST", path: "/v1/chat/completions", match: "exact", scope: "operator.write" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes, handler: createChatHandler(ctx as PluginContext, pdf) }));
  }
  return routes;
}
